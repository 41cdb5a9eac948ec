/** The help of `trunkline` and of each command: what for, how, examples. */
export function generalHelp(commands: readonly { name: string; summary: string }[]): string {
  const list = commands.map((command) => `  ${command.name.padEnd(10)}${command.summary}`).join('\n');
  return `Trunkline: a voice-bot platform for one machine.

usage: trunkline COMMAND [options]

${list}

First steps
  npm run demo                   set everything up and hold a call with the demo bot
  npm start                      run the appliance; then, in another terminal:
  trunkline call demo --wav hello.wav

"trunkline help COMMAND" explains one command with examples.

Exit codes: 0 fine, 1 something is not right, 2 the command line cannot be understood,
78 a boot setting is wrong.`;
}

const HELP: Record<string, string> = {
  start: `trunkline start: run the appliance in the foreground.

usage: trunkline start [--settings FILE]

Settings come from the environment; "settings.sample.env" explains each one. With --settings they
come from a file of NAME=value lines, and what the environment sets wins over the file.

One signal (Ctrl-C, SIGTERM) drains: no new calls, running calls go on to their end, then exit 0.
A second one leaves at once: running calls go on in their own processes and the next start takes
their results in. A wrong setting ends with exit code 78 and one sentence that names it.

examples
  trunkline start
  SLOTS=4 LOG_LEVEL=debug trunkline start
  trunkline start --settings /etc/trunkline/trunkline.env`,

  demo: `trunkline demo: run the appliance on a temporary folder and place a real call to it.

usage: trunkline demo [--short] [--sip] [--keep] [--quiet]

The caller is human speech from Debian's package pocketsphinx-testdata, over the same WebSocket
that a telephony dialler uses. The terminal shows who speaks, when, what was understood and how
long the answers took. At the end it prints what the results webhook received and where the stereo
recording lies, and checks all of it: exit code 1 names what was missed.

  --short   four recordings instead of all
  --sip     the call comes by telephone: a SIP call through a real media server and a room
            (the first time this builds livekit-server and livekit-sip, which takes minutes)
  --keep    keep the whole temporary folder, the log of the appliance too
  --quiet   print the checks and the results only`,

  call: `trunkline call BOT: place one call to a bot, as a dialler would.

usage: trunkline call BOT [--url URL] [--wav FILE]... [--binary] [--partner] [--out FILE]
                      [--from NUMBER] [--caller ID] [--var NAME=VALUE]... [--json]
       trunkline call BOT --scenario FILE [--url URL] [--control URL] [--binary|--partner] [--json]

The caller says the WAV files one after another (16-bit PCM, any usual rate), each after the bot
has finished. Without a file the caller listens until the bot ends the call or is silent for long.

  --url URL          address of the fleet port (ws://127.0.0.1:8090, or from FLEET_LISTEN)
  --wav FILE         what the caller says; may stand several times
  --binary           raw binary audio frames instead of base64 in JSON
  --partner          speak the partner's protocol to /partner/BOT (docs/partner-protocol.md)
  --out FILE         write both sides as a stereo WAV file: left the caller, right the bot
  --from NUMBER      caller's number, "from_number"
  --caller ID        "caller_id"
  --var NAME=VALUE   a field of the first message; the bot reads it as {{call.NAME}}
  --scenario FILE    act out a conversation from a file and check what is expected in it
                     (docs/scenarios.md); exit code 1 when something was not as expected
  --control URL      the control plane whose call record a scenario is held against
  --json             one JSON object per line instead of the live view, a summary last

On the appliance's own host the words appear too, read from the spool in DATA_DIR (./data).
CORE_SECRET from the environment is sent there where WS_AUTH=secret asks for it.

examples
  trunkline call demo
  trunkline call demo --wav question.wav --wav thanks.wav --out heard.wav
  trunkline call sales --url ws://10.0.0.5:8090 --from +15550100 --var plan=gold
  trunkline call demo --partner --caller +15550123 --wav question.wav`,

  doctor: `trunkline doctor: check what the appliance needs and say what to do.

usage: trunkline doctor [--settings FILE] [--json]

Looks at the runtime, the audio kernels, the models, the local speech engines, the data folder and
its disk, the ports, the clock, the settings and, where CONFIG_URL is set, the foreign control
plane. Each line says ok, warn or fail; fail and warn say what to do. Exit code 1 when one fails.`,

  help: `trunkline help [COMMAND]: explain a command.`,

  version: `trunkline version: print the version.`,
};

export function commandHelp(name: string): string | undefined {
  return HELP[name];
}
