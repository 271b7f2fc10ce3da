import { expect, test } from 'vitest';
import { ServerProcess } from './processes.ts';

const start = (code: string) =>
  ServerProcess.start({
    module: '--eval',
    arguments: [code],
    core: 'all',
    showsErrors: 'at a failed start',
  });

test('the error of a failed start contains the error output of the process', async () => {
  await expect(start('console.error("the port is in use")')).rejects.toThrow(
    /exited before it listened: the port is in use$/,
  );
});

test('error output after the start does not block the process', async () => {
  const server = await start(`
    console.log('listening on http://127.0.0.1:1');
    for (let line = 0; line < 1000; line += 1) console.error('x'.repeat(1000));
    setInterval(() => {}, 1000);
  `);
  expect(await server.cpuMicroseconds()).toBeGreaterThan(0);
  await server.kill();
});
