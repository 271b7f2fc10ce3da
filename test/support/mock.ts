import { parseArgs } from 'node:util';
import { startMock } from './prism.ts';

/** `npm run mock -- [--port 4010] [--host 127.0.0.1]`: a stateless server that answers from the contract's examples. */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4010' },
    host: { type: 'string', default: '127.0.0.1' },
  },
});

try {
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port ${values.port} is not a port`);
  const mock = await startMock({ port, host: values.host });
  console.log(`mock listening on ${mock.url}`);
  const stop = () => void mock.close().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
} catch (error) {
  console.error(`the mock cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
