"""DP-EM's general recipe for exponential families (Park et al. 2017, Eqs. 9, 10): no model itself.

A mixture whose columns are independent within a group, each with one parameter. A model brings its
:class:`~dpcore.models.exponential_family.mathematics.Family` and a declaration.
"""
