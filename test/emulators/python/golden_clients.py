"""The vendors' own clients for Python against the emulators, one scenario each.

Reads {client: {url, key, settings, frames, ...}} as JSON from the input, runs the named clients one after the other,
and writes {client: {received: [...]} or {error: ...}} as JSON. What they sent stands in the logs of the emulators.
"""

import base64
import json
import signal
import sys
import traceback

# For one client; on a busy machine the import alone takes seconds.
TIMEOUT_S = 100


def plain(message):
    """A message as the client handed it out, as JSON."""
    if hasattr(message, "model_dump"):
        return message.model_dump(mode="json", by_alias=True)
    if hasattr(message, "dict"):
        return message.dict()
    return message


def take(socket, received, fits):
    """Receives until a message fits; the last one received is in the list."""
    while True:
        received.append(plain(socket.recv()))
        if fits(received[-1]):
            return


def drain(socket, received):
    from websockets.exceptions import ConnectionClosed

    try:
        while True:
            received.append(plain(socket.recv()))
    except ConnectionClosed:
        return


def frames_of(order):
    return [base64.b64decode(frame) for frame in order["frames"]]


def deepgram_client(order):
    from deepgram import DeepgramClient
    from deepgram.environment import DeepgramClientEnvironment

    ws, http = order["url"], order["url"].replace("ws", "http", 1)
    environment = DeepgramClientEnvironment(base=http, production=ws, agent=ws, agent_rest=http)
    return DeepgramClient(api_key=order["key"], environment=environment)


def deepgram(order):
    received = []
    with deepgram_client(order).listen.v1.connect(**order["settings"]) as socket:
        for frame in frames_of(order):
            socket.send_media(frame)
        take(socket, received, lambda message: message.get("is_final"))
        socket.send_keep_alive()
        socket.send_finalize()
        take(socket, received, lambda message: message.get("from_finalize"))
        socket.send_close_stream()
        drain(socket, received)
    return received


def flux(order):
    received = []
    with deepgram_client(order).listen.v2.connect(**order["settings"]) as socket:
        take(socket, received, lambda message: message["type"] == "Connected")
        for frame in frames_of(order):
            socket.send_media(frame)
        take(socket, received, lambda message: message.get("event") == "EndOfTurn")
        for threshold in (0.8, 0.2):
            socket.send_configure({"type": "Configure", "thresholds": {"eot_threshold": threshold}})
            take(socket, received, lambda message: message["type"].startswith("Configure"))
        socket.send_close_stream()
        drain(socket, received)
    return received


def sarvam_client(order):
    from sarvamai import SarvamAI
    from sarvamai.environment import SarvamAIEnvironment

    ws, http = order["url"], order["url"].replace("ws", "http", 1)
    environment = SarvamAIEnvironment(base=http, creative=http, production=ws)
    return SarvamAI(api_subscription_key=order["key"], environment=environment)


def sarvam(order):
    from sarvamai import RealtimeAudioInput, RealtimeEnd, RealtimePing

    received = []
    streaming = sarvam_client(order).speech_to_text_realtime_streaming
    with streaming.connect(**order["settings"]) as socket:
        take(socket, received, lambda message: message["event"] == "session.begin")
        for frame in frames_of(order):
            socket.send_realtime_audio_input(RealtimeAudioInput(audio=base64.b64encode(frame).decode()))
        take(socket, received, lambda message: message["event"] == "transcript.final")
        socket.send_realtime_ping(RealtimePing())
        take(socket, received, lambda message: message["event"] == "pong")
        socket.send_realtime_end(RealtimeEnd())
        take(socket, received, lambda message: message["event"] == "session.end")
    return received


def sarvam_legacy(order):
    received = []
    with sarvam_client(order).speech_to_text_streaming.connect(**order["settings"]) as socket:
        for frame in frames_of(order):
            socket.transcribe(audio=base64.b64encode(frame).decode())
        take(socket, received, lambda message: message["type"] == "data")
        socket.flush()
    return received


def sarvam_tts(order):
    received = []
    settings = order["settings"]
    streaming = sarvam_client(order).text_to_speech_streaming
    with streaming.connect(model=settings["model"], send_completion_event="true") as socket:
        socket.configure(
            target_language_code=settings["language"],
            speaker=settings["speaker"],
            speech_sample_rate=8000,
            output_audio_codec="linear16",
        )
        socket.convert(order["text"])
        socket.flush()
        take(socket, received, lambda message: message["type"] == "event")
    return received


def soniox(order):
    from soniox import SonioxClient
    from soniox.types.realtime import RealtimeSTTConfig

    received = []
    client = SonioxClient(api_key=order["key"], websocket_base_url=order["url"] + "/transcribe-websocket")
    with client.realtime.stt.connect(config=RealtimeSTTConfig(**order["settings"])) as session:
        for frame in frames_of(order):
            session.send_byte_chunk(frame)
        session.keep_alive()
        session.finalize()
        session.finish()
        for event in session.receive_events():
            received.append(plain(event))
    return received


def elevenlabs(order):
    """There is no client for this socket; its messages are put together by the types of the vendor's package."""
    from elevenlabs.types import (
        AudioOutputMulti,
        CloseContext,
        CloseSocket,
        FinalOutputMulti,
        FlushContext,
        InitializeConnectionMulti,
        SendTextMulti,
    )
    from websockets.sync.client import connect

    received = []
    with connect(order["url"], additional_headers={"xi-api-key": order["key"]}) as socket:
        def send(message):
            socket.send(json.dumps(message.dict(exclude_none=True)))

        send(InitializeConnectionMulti(text=" ", context_id="golden"))
        send(SendTextMulti(text=order["text"] + " ", context_id="golden"))
        send(FlushContext(context_id="golden", flush=True))
        while True:
            message = json.loads(socket.recv(TIMEOUT_S))
            if message.get("audio"):
                if not received:
                    send(CloseContext(context_id="golden", close_context=True))
                received.append(AudioOutputMulti.model_validate(message).dict())
            if message.get("isFinal"):
                received.append(FinalOutputMulti.model_validate(message).dict())
                break
        send(CloseSocket(close_socket=True))
    return received


def openai(order):
    from openai import OpenAI

    client = OpenAI(api_key=order["key"], base_url=order["url"], max_retries=0)
    received = []
    chunks = client.chat.completions.create(
        stream=True, stream_options={"include_usage": True}, **order["settings"]
    )
    for chunk in chunks:
        received.append(plain(chunk))
    settings = order["settings"]
    tools = [{"type": "function", **tool["function"]} for tool in settings["tools"]]
    events = client.responses.create(
        stream=True, store=False, model=settings["model"], input=settings["messages"], tools=tools
    )
    for event in events:
        received.append(plain(event))
    return received


def anthropic(order):
    from anthropic import Anthropic

    client = Anthropic(api_key=order["key"], base_url=order["url"], max_retries=0)
    with client.messages.stream(**order["settings"]) as stream:
        return [plain(event) for event in stream] + [plain(stream.get_final_message())]


def gemini(order):
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=order["url"], api_version=order["version"])
    client = genai.Client(vertexai=False, api_key=order["key"], http_options=options)
    settings = order["settings"]
    tools = [types.Tool(function_declarations=[types.FunctionDeclaration(**settings["tool"])])]
    config = types.GenerateContentConfig(
        system_instruction=settings["system"],
        tools=tools,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    chunks = client.models.generate_content_stream(
        model=settings["model"], contents=settings["text"], config=config
    )
    received = [plain(chunk) for chunk in chunks]
    entry = client.caches.create(
        model=settings["model"],
        config=types.CreateCachedContentConfig(
            system_instruction=settings["long_system"], tools=tools, ttl="3600s"
        ),
    )
    cached = client.models.generate_content(
        model=settings["model"],
        contents=settings["text"],
        config=types.GenerateContentConfig(cached_content=entry.name),
    )
    client.caches.update(name=entry.name, config=types.UpdateCachedContentConfig(ttl="7200s"))
    client.caches.delete(name=entry.name)
    return received + [plain(cached)]


def cartesia(order):
    from cartesia import Cartesia

    client = Cartesia(api_key=order["key"], websocket_base_url=order["url"])
    received = []
    with client.tts.websocket_connect() as connection:
        connection.send(order["settings"])
        for event in connection:
            received.append(plain(event))
            if event.type in ("done", "error"):
                break
    return received


CLIENTS = (
    deepgram, flux, sarvam, sarvam_legacy, sarvam_tts, soniox, elevenlabs, cartesia, openai, anthropic, gemini
)


def expire(_signal, _frame):
    raise TimeoutError(f"not done within {TIMEOUT_S} s")


def main():
    signal.signal(signal.SIGALRM, expire)
    clients = {client.__name__: client for client in CLIENTS}
    results = {}
    for name, order in json.load(sys.stdin).items():
        signal.alarm(TIMEOUT_S)
        try:
            results[name] = {"received": clients[name](order)}
        except Exception:
            results[name] = {"error": traceback.format_exc()[-3000:]}
        finally:
            signal.alarm(0)
    json.dump(results, sys.stdout, default=str)


main()
