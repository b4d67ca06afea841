"""Who may decide, and how a decision is known to be theirs: keys, signatures and the table of rulings.

The rooms, from the ground up:

- `paths`: the user's folder and the files of trust in it.
- `files`: reading a regular file once, the lock, and replacing a file so that a crash leaves the old or the new one.
- `canonical`: the bytes that are signed and the hash that chains entries (RFC 8785).
- `sshsig_io`: OpenSSH signatures of the namespace `ct-ruling`, made and checked.
- `public_keys`, `keys`, `agent`: public keys; private key files; keys that only an ssh-agent or a token holds.
- `signers`, `judging`, `ssh_dates`, `trusting`: `allowed_signers` and the revocation list; whether a key may rule at a
  time; OpenSSH's dates; adding and revoking.
- `yaml_reader`, `yaml_writer`, `table`: the list of entries as a file: read without constructing anything, append only.
- `chain`: whether the entries are all there, in order, and grown from the head last seen.
- `verify`: joins them into the one frozen `RulingTable` that heal and the gate accept.
- `signing`, `proposals`: making a ruling; reading unsigned ones to adopt.

What holds everywhere: bytes are read once, then parsed, then verified, against a clock that is read once; nothing in a
file is executed or resolved; comments are never part of what is authorised; and what cannot be understood never acts.
"""
