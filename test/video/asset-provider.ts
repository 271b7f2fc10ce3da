import type { ServerResponse } from 'node:http';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import type { TestGateway } from '../support/gateway.ts';
import { recordResponse } from '../support/recorded-errors.ts';
import { type RecordingUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

/** Fields of an asset in the provider's response, without its id. */
export type AssetData = Readonly<Record<string, unknown>>;

/**
 * An upstream with assets and official tasks that records its requests. Uploads stay in `Processing` until
 * `setLatestAsset` is called. Tasks never end.
 */
export interface AssetProvider extends RecordingUpstream {
  /** Assets by the provider's ids. */
  assets: Map<string, AssetData>;
  /** Handles all requests while it is set. */
  override: ((request: SeenRequest, response: ServerResponse) => void | Promise<void>) | undefined;
  /** Upload requests, oldest first. */
  uploads(): SeenRequest[];
  /** Queries of assets, oldest first. */
  assetQueries(): SeenRequest[];
  /** Requests to create tasks, oldest first. */
  taskRequests(): SeenRequest[];
  /** Sets the fields of the latest upload. */
  setLatestAsset(asset: AssetData): void;
}

const taskPath = '/api/v3/contents/generations/tasks';

export async function startAssetProvider(name: string): Promise<AssetProvider> {
  const assets = new Map<string, AssetData>();
  const upstream = await startUpstream(async (request, response) => {
    if (provider.override !== undefined) {
      await provider.override(request, response);
      return;
    }
    const [status, body] = responseTo(request);
    sendJson(response, status, body);
  });
  const responseTo = ({ method, path }: SeenRequest): [number, object] => {
    const [route = ''] = path.split('?');
    if (method === 'POST' && route === '/api/assets/upload') {
      const Id = `asset-20250101000000-${name}${assets.size + 1}`;
      assets.set(Id, { Status: 'Processing' });
      return [200, { code: 0, message: 'success', data: { Id } }];
    }
    const id = decodeURIComponent(route.slice(route.lastIndexOf('/') + 1));
    if (route === taskPath) return [200, { id: `cgt-${name}-${upstream.seen.length}` }];
    if (route.startsWith(taskPath)) return [200, { id, status: 'running' }];
    const asset = assets.get(id);
    if (asset === undefined)
      return [404, { error: { code: 'NotFound.Asset', message: 'There is no such asset' } }];
    return [200, { code: 0, message: 'success', data: { Id: id, ...asset } }];
  };
  const requestsTo = (method: string, path: string) =>
    upstream.seen.filter((one) => one.method === method && one.path.startsWith(path));
  const provider: AssetProvider = {
    ...upstream,
    assets,
    override: undefined,
    uploads: () => requestsTo('POST', '/api/assets/upload'),
    assetQueries: () => requestsTo('GET', '/api/assets/'),
    taskRequests: () => requestsTo('POST', taskPath),
    setLatestAsset(asset) {
      const latest = [...assets.keys()].at(-1);
      if (latest === undefined) throw new Error('there is no upload');
      assets.set(latest, asset);
    },
  };
  return provider;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Fields of an asset that can be used. */
export const activeAsset: AssetData = {
  Status: 'Active',
  AssetType: 'Image',
  URL: 'https://files.example/cat.png?signature=1',
};

/** Creates another user and returns its unlimited key. */
export async function createOtherUserKey({ gateway: { store, clock } }: TestGateway): Promise<string> {
  const now = clock();
  const { id: userId } = await store.run('createUser', { name: 'other', group: 'default', now });
  const key = generateKey();
  const token = { keyHash: hashKey(key), keyHint: keyHint(key), unlimitedQuota: true };
  await store.run('createToken', { userId, name: 'other', now, ...token });
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

/** Calls the asset routes of a gateway with a key. */
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

  /** Uploads an asset, by default an image, and returns its id. */
  async upload(change: object = {}, query = ''): Promise<string> {
    const image = { url: 'https://files.example/cat.png', asset_type: 'Image' };
    const { status, body } = await this.call('POST', `/api/assets/upload${query}`, { ...image, ...change });
    if (status !== 200) throw new Error(`upload: ${status} ${JSON.stringify(body)}`);
    return body.data.Id;
  }

  async get(id: string, query = ''): Promise<Envelope['data']> {
    const { status, body } = await this.call('GET', `/api/assets/${id}${query}`);
    if (status !== 200) throw new Error(`get: ${status} ${JSON.stringify(body)}`);
    return body.data;
  }
}
