import { createServer } from 'vitepress';

/** Serves assembled pages on 127.0.0.1, each rendered when a browser requests it. */
export async function servePages(folder: string, port: number) {
  const server = await createServer(folder, { host: '127.0.0.1', port, strictPort: true });
  await server.listen();
  return {
    /** Reloads every open page. */
    reload: () => server.ws.send({ type: 'full-reload' }),
    close: () => server.close(),
  };
}
