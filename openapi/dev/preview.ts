import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { docsFile, pagePolicy } from '../../server/operations/service/docs-site.ts';

export interface Preview {
  address: string;
  /** Reloads every open page. */
  reload(): void;
  close(): void;
}

const script = `new EventSource('/changes').addEventListener('reload', () => location.reload());\n`;

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};

/** Serves the documentation in `folder` (generated/) on 127.0.0.1. Throws the system error if it cannot listen. */
export async function openPreview(port: number, folder: string): Promise<Preview> {
  const open = new Set<ServerResponse>();
  const respond = async ({ method, url = '/' }: IncomingMessage, response: ServerResponse) => {
    const name = url.replace(/[?#].*/, '').slice(1) || 'index.html';
    if (method !== 'GET') return response.writeHead(405, { allow: 'GET' }).end();
    if (name === 'changes') {
      open.add(response);
      response.on('close', () => open.delete(response));
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      return response.write('retry: 500\n\n');
    }
    const body = await bodyOf(folder, name);
    if (body === undefined) return response.writeHead(404).end('page not found');
    response.writeHead(200, {
      'content-type': mediaTypes[name.split('.').at(-1) ?? ''] ?? 'text/plain; charset=utf-8',
      'content-security-policy': pagePolicy,
      'cache-control': 'no-store',
    });
    return response.end(body);
  };
  const server = createServer((request, response) => {
    void respond(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    address: `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}/`,
    reload: () => open.forEach((response) => void response.write('event: reload\ndata:\n\n')),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Reads the current version of a documentation file. */
async function bodyOf(folder: string, name: string): Promise<string | Buffer | undefined> {
  if (name === 'preview.js') return script;
  // The script that renders the reference is not part of generated/.
  if (name === 'scalar.js') return (await docsFile(name, undefined))?.body;
  if (!/^[a-z0-9-]+\.[a-z]+$/.test(name)) return undefined;
  const isDocument = name === 'openapi.json' || name === 'asyncapi.json';
  const text = await readFile(join(folder, isDocument ? '.' : 'docs', name), 'utf8').catch(() => undefined);
  return name.endsWith('.html')
    ? text?.replace('</body>', '<script src="/preview.js"></script></body>')
    : text;
}
