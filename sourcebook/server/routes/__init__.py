"""The routes of the REST API, a module for each kind of resource."""
