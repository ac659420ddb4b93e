"""Tournaments on a cluster that is there already, through dask.distributed.

    coordinator → crew → dask scheduler → dask workers → station → worker process → bots

The coordinator of a tournament stays where it is and stays the only writer of its store. What the
machines of the cluster have to do for it is behind `ground.ClusterGround`.
"""
