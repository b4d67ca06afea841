"""The curation guide's rules: each a pure function over small frozen records of the brain's rows.

`model` says what a rule and a finding are, `registry` lists every rule with its severity and its reason; `edges`,
`facts`, `compound`, `names`, `types` and `rulings` hold the rules by what they look at, `report` gathers the findings.
"""
