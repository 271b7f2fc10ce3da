import type { ServerResponse } from 'node:http';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import type { TestGateway } from '../support/gateway.ts';
import { recordResponse } from '../support/recorded-errors.ts';
import { type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

/** What the provider tells of an asset, beside its id. */
export type ToldAsset = Readonly<Record<string, unknown>>;

/**
 * An upstream with assets and official tasks that records what it is asked. Uploads stay in processing until told
 * otherwise, and tasks run for ever.
 */
export interface AssetProvider extends RecordingUpstream {
  /** By the provider's own ids. */
  assets: Map<string, ToldAsset>;
  /** Answers in the place of all that while it is set. */
  instead: ((request: SeenRequest, response: ServerResponse) => void | Promise<void>) | undefined;
  /** What was sent to upload, oldest first. */
  uploads(): SeenRequest[];
  /** Look-ups of assets, oldest first. */
  lookUps(): SeenRequest[];
  /** Tasks that were asked for, oldest first. */
  orders(): SeenRequest[];
  /** Sets what is told of the latest upload. */
  tell(asset: ToldAsset): void;
}

const taskPath = '/api/v3/contents/generations/tasks';

export async function startAssetProvider(name: string): Promise<AssetProvider> {
  const assets = new Map<string, ToldAsset>();
  const upstream = await startUpstream(async (request, response) => {
    if (provider.instead !== undefined) {
      await provider.instead(request, response);
      return;
    }
    const [status, body] = answer(request);
    sendJson(response, status, body);
  });
  const answer = ({ method, path }: SeenRequest): [number, object] => {
    const [route = ''] = path.split('?');
    if (method === 'POST' && route === '/api/assets/upload') {
      const Id = `asset-20250101000000-${name}${assets.size + 1}`;
      assets.set(Id, { Status: 'Processing' });
      return [200, { code: 0, message: 'success', data: { Id } }];
    }
    const id = decodeURIComponent(route.slice(route.lastIndexOf('/') + 1));
    if (route === taskPath) return [200, { id: `cgt-${name}-${upstream.seen.length}` }];
    if (route.startsWith(taskPath)) return [200, { id, status: 'running' }];
    const told = assets.get(id);
    if (told === undefined)
      return [404, { error: { code: 'NotFound.Asset', message: 'There is no such asset' } }];
    return [200, { code: 0, message: 'success', data: { Id: id, ...told } }];
  };
  const seenAt = (method: string, path: string) =>
    upstream.seen.filter((one) => one.method === method && one.path.startsWith(path));
  const provider: AssetProvider = {
    ...upstream,
    assets,
    instead: undefined,
    uploads: () => seenAt('POST', '/api/assets/upload'),
    lookUps: () => seenAt('GET', '/api/assets/'),
    orders: () => seenAt('POST', taskPath),
    tell(asset) {
      const latest = [...assets.keys()].at(-1);
      if (latest === undefined) throw new Error('nothing was uploaded');
      assets.set(latest, asset);
    },
  };
  return provider;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** What is told of an asset that can be used. */
export const active: ToldAsset = {
  Status: 'Active',
  AssetType: 'Image',
  URL: 'https://files.example/cat.png?signature=1',
};

/** An unlimited key of another user. */
export async function strangersKey({ gateway: { store, clock } }: TestGateway): Promise<string> {
  const now = clock();
  const { id: userId } = await store.run('createUser', { name: 'stranger', group: 'default', now });
  const key = generateKey();
  const token = { keyHash: hashKey(key), keyHint: keyHint(key), unlimitedQuota: true };
  await store.run('createToken', { userId, name: 'stranger', now, ...token });
  return key;
}

interface Envelope {
  code: number;
  message: string;
  data: {
    Id: string;
    AssetType?: string;
    Status?: string;
    Name?: string;
    GroupId?: string;
    ProjectName?: string;
    CreateTime?: string;
    UpdateTime?: string;
    URL?: string;
    Error?: { Code: string; Message: string };
  };
  error?: { code: string; message: string };
}

/** The asset routes of a gateway, as a client with that key calls them. */
export class AssetClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Envelope }> {
    const response = await fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await recordResponse({ method, path }, response);
    return { status: response.status, body: (await response.json()) as Envelope };
  }

  /** Uploads something, an image unless told otherwise, and gives its id. */
  async upload(change: object = {}, query = ''): Promise<string> {
    const image = { url: 'https://files.example/cat.png', asset_type: 'Image' };
    const { status, body } = await this.call('POST', `/api/assets/upload${query}`, { ...image, ...change });
    if (status !== 200) throw new Error(`upload: ${status} ${JSON.stringify(body)}`);
    return body.data.Id;
  }

  async show(id: string, query = ''): Promise<Envelope['data']> {
    const { status, body } = await this.call('GET', `/api/assets/${id}${query}`);
    if (status !== 200) throw new Error(`show: ${status} ${JSON.stringify(body)}`);
    return body.data;
  }
}
