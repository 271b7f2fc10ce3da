import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { assemble, createWorkFolder } from '../tools/docs/assemble.ts';
import { readDocsSources, renderPages } from '../tools/docs/pages.ts';

export interface Preview {
  address: string;
  /** Renders the pages again and reloads every open page, if a page or document has changed. */
  update(): Promise<void>;
  close(): Promise<void>;
}

/** Serves the documentation of the contract below `root` on 127.0.0.1. Throws the system error if it cannot listen. */
export async function openPreview(port: number, root: string): Promise<Preview> {
  const freePort = await checkPort(port);
  const folder = await createWorkFolder();
  const write = async () =>
    assemble(root, folder, await renderPages(root, await readDocsSources(root)), { isPreview: true });
  await write();
  // Loaded here, because the other commands do not need it.
  const { servePages } = await import('../tools/docs/serve-pages.ts');
  const server = await servePages(folder, freePort);
  return {
    address: `http://127.0.0.1:${freePort}/`,
    async update() {
      if (await write()) server.reload();
    },
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the port, or a free one for 0. VitePress hides the reason if it cannot listen. */
async function checkPort(port: number): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(port, '127.0.0.1', resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : port;
}
