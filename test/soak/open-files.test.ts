import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { countFiles, describeGrowth, readOpenFiles } from './open-files.ts';

test.runIf(process.platform === 'linux')(
  'reports open files by kind and connections by remote port',
  async () => {
    const before = await readOpenFiles(process.pid);
    const path = fileURLToPath(import.meta.url);
    const file = await open(path);
    onTestFinished(() => file.close());
    const server = createServer();
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await accepted;
    const after = await readOpenFiles(process.pid);
    expect(after).toMatchObject({ [path]: 1, [`connection to port ${port}`]: 1 });
    expect(countFiles(after, (kind) => kind.startsWith('connection'))).toBeGreaterThan(1);
    const grown = describeGrowth(before, after);
    expect(grown).toContain(`1 more of ${path}`);
    expect(grown).toContain(`1 more of connection to port ${port}`);
    expect(grown).toContain('more of connection of a client');
    expect(describeGrowth(after, after)).toBe('');
  },
);
