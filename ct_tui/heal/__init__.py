"""Heal: what joins the brain, its policy and the signed rulings into plans, runs and receipts.

`situation` reads everything once; `survey` gives every entity its disposition; `planner` makes the plan, `apply`
writes it, `undo` turns it back; `review` builds the queue; `workbench` is the facade that both faces use.
"""
