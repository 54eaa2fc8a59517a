"""The formats that recorded runs come in, one file each. `knows` looks at one value; `read` makes runs of all of them."""
