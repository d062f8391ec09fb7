package cuda

// Room is the room for arrays.
const Room = room
