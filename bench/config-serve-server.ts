import { App, us_socket_local_port } from 'uWebSockets.js';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startControl } from '../src/control/control.ts';
import { openKeyValueStore } from '../src/platform/key-value-store.ts';
import { createLogger } from '../src/platform/logger.ts';
import { readSettings } from '../src/platform/settings.ts';

/** The server side of `config-serve`: the control plane and a bare uWS route with a body of the same size, one process. */
const folder = process.argv[2] ?? '';
const recordingsFolder = join(folder, 'recordings');
mkdirSync(recordingsFolder, { recursive: true });
const control = await startControl({
  settings: readSettings({ CONTROL_LISTEN: '127.0.0.1:0', CORE_SECRET: 'bench-secret' }, folder, folder),
  store: openKeyValueStore(join(folder, 'store')),
  logger: createLogger({ level: 'silent', role: 'bench' }),
  recordingsFolder,
});
// The session's record is what the reading side of the bench asks for.
const event = encodeURIComponent(JSON.stringify({ _campaign_session_id: 'bench' }));
const sample = await fetch(`http://127.0.0.1:${control.port}/api/v1/config/demo?connected_event=${event}`, {
  headers: { 'x-core-secret': 'bench-secret' },
});
const document = await sample.text();
App()
  .get('/bare', (response) => {
    response.writeHeader('content-type', 'application/json').end(document);
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('no free port for the bare route');
    process.stdout.write(
      `${JSON.stringify({ control: control.port, bare: us_socket_local_port(socket) })}\n`,
    );
  });
