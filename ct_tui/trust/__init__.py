"""Who may decide, and how a decision is known to be theirs: keys, signatures and the table of rulings.

The rooms, from the ground up:

- `paths`: the user's folder and the files of trust in it.
- `files`: reading a regular file once, the lock, and replacing a file so that a crash leaves the old or the new one.
- `canonical`: the bytes that are signed and the hash that chains entries (RFC 8785).
- `public_keys`, `sshsig_io`: public keys; OpenSSH signatures of the namespace `ct-ruling`, made and checked.
- `keys`, `agent`, `signer`: private key files; keys that only an ssh-agent or a token holds; one door to both.
- `principals`, `ssh_dates`, `signers`: names, OpenSSH's dates, `allowed_signers` and the revocation list as read.
- `judging`, `trusting`: whether a key may rule under a name at a time; adding and revoking.
- `yaml_reader`, `yaml_writer`, `table`: the list of entries as a file: read without constructing anything, append only.
- `entry`: the fields of an entry, from a ruling and back.
- `chain`: whether the entries are all there, in order, and grown from the head last seen.
- `verify`: joins them into the one frozen `RulingTable` that heal and the gate accept.
- `signing`, `proposals`: making a ruling; reading unsigned ones to adopt.

Who uses it: `load_signers`, `verify_table`, `open_signer`, `sign_ruling`. The head of a verified table is remembered by
the caller, and only of a table that is `trusted`.

What holds everywhere: bytes are read once, then parsed, then verified, against a clock that is read once; nothing in a
file is executed or resolved; comments are never part of what is authorised; and what cannot be understood never acts.
"""
