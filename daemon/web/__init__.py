"""`feltd web`: the overlay for the broadcast and the panel for the floor, in a process of its own.

A plain MQTT subscriber with rights of its own: nothing on a page can touch the table but through
the contract.
"""
