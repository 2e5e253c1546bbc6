package app

// Version of the tool, also in every model. It is no part of the build's
// circumstances: the same sources must make the same model bytes.
const Version = "0.1.0"
