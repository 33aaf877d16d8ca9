"""The fuzzer: neighbouring files at random, and whether any release moves by more than is booked.

Two files that are neighbours are written, read and fitted. What left of the first is put in the
place of what leaves of the second, so that both are asked for the same, step by step; the exact
sums behind each release are compared in units of the sensitivity that its ledger entry states.
That is the argument of adaptive composition: given all that left before, one step moves by at most
its sensitivity (Dwork, Rothblum, Vadhan 2010). What else leaves (the ledger, the parameters, a
refusal) must be alike, and so must be, to the last bit, how rows that both files have were read.

**Safe**, although it looks at sums before their noise: nothing here takes a table. A pair is made
from a seed and a number alone, and its files are gone when it has been compared.
"""
