module trunkline/test/stack/livekit-server

go 1.26

require github.com/livekit/livekit-server v1.13.5
