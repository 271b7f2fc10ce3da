import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import type { TaskReader } from './tasks/task-protocol.ts';
import { checkWaitOptions, type WaitOptions, waitForTask } from './tasks/wait-for-task.ts';

type Schemas = components['schemas'];
type Query = NonNullable<operations['getAsset']['parameters']['query']>;
export type AssetUpload = Schemas['AssetUpload'];
export type Asset = Schemas['Asset'];

/** An asset that requests can reference as `asset://<Id>`. */
export type ActiveAsset = Asset & { Status: 'Active'; URL: string };

/** `model` is only for assets of the overseas model. */
export interface AssetOptions extends CallOptions {
  model?: Query['model'];
}

/** Media that Seedance requests reference by id. */
export class Assets {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Registers media by URL. Returns the asset id. `POST /api/assets/upload` */
  async upload(body: AssetUpload, { model, ...options }: AssetOptions = {}): Promise<string> {
    const init = { ...options, body, params: { query: { model } } };
    return (await this.#caller.call('uploadAsset', init)).data.Id;
  }

  /** Retrieves an asset. `GET /api/assets/{id}` */
  async retrieve(id: string, options: AssetOptions = {}): Promise<Asset> {
    return (await this.#read(id, options)).data;
  }

  /** Polls an asset until it is active. Throws TaskFailedError with the asset if it was rejected. */
  waitFor(id: string, { model, ...options }: AssetOptions & WaitOptions<Asset> = {}): Promise<ActiveAsset> {
    const reader: TaskReader<Asset, ActiveAsset> = {
      read: (asset, call) => this.#read(asset, { ...call, model }),
      stateOf: ({ Status: status, Error: error }) => {
        const { Code: code = status, Message: message = 'The asset was rejected.' } = error ?? {};
        return { status, failure: status === 'Failed' ? { code, message } : undefined };
      },
      isDone: (asset): asset is ActiveAsset => asset.Status === 'Active',
    };
    return waitForTask(id, reader, options);
  }

  /** Calls `upload`, then `waitFor`. */
  async uploadAndWait(
    body: AssetUpload,
    options: AssetOptions & WaitOptions<Asset> = {},
  ): Promise<ActiveAsset> {
    checkWaitOptions(options);
    const { onProgress, pollIntervalMs, timeoutMs, ...call } = options;
    return await this.waitFor(await this.upload(body, call), options);
  }

  async #read(id: string, { model, ...options }: AssetOptions) {
    const params = { path: { id }, query: { model } };
    const { data, ...reply } = await this.#caller.callWithResponse('getAsset', { ...options, params });
    return { ...reply, data: data.data };
  }
}
