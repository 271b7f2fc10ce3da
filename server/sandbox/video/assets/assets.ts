import type { FileStore } from '../../http/file-store.ts';
import { invalidParameter, NativeError } from '../../http/native-error.ts';
import type { MediaKind } from '../../media/media-facts.ts';
import type { Storage } from '../../storage.ts';
import {
  createTimestampedId,
  type ForcedOutcome,
  type Task,
  TaskBoard,
  TaskFailure,
} from '../../tasks/task-board.ts';
import type { Triggers } from '../../triggers.ts';
import { assetLimits } from '../media-limits.ts';
import type { MediaLoader, SeenMedia } from '../media-loader.ts';

/** What an asset was made from. */
interface AssetRequest {
  kind: MediaKind;
  url: string;
  name: string;
  /** Overseas accounts have a store of their own. */
  overseas: boolean;
  /** Of a verified person; undefined: the account's own. */
  groupId?: string | undefined;
}

interface AssetOutput {
  media: SeenMedia;
  /** Name of its file. */
  file: string;
}

export type Asset = Task<AssetRequest, AssetOutput>;

interface AssetsOptions {
  storage: Storage;
  media: MediaLoader;
  files: FileStore;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds that the checks take. */
  taskDurationMs: number;
}

const reference = /^asset:\/\//i;
/** Milliseconds for which the URL of an asset works. */
const urlLifetime = 12 * 60 * 60 * 1000;
/** When its file runs out: long after everything else, and early enough for every file system. */
const forever = Date.UTC(2100, 0);

/** Media kept under ids. It is fetched and checked after the upload call, and then usable or failed. */
export class Assets {
  readonly groupId: string;
  readonly #options: AssetsOptions;
  readonly #assets: TaskBoard<AssetRequest, AssetOutput, AssetRequest>;

  constructor(options: AssetsOptions) {
    this.#options = options;
    const { storage, media, files, now } = options;
    this.#assets = new TaskBoard({
      ...options,
      name: 'asset',
      retentionMs: Infinity,
      work: async ({ kind, url }) => {
        const { bytes, ...seen } = await media.load(kind, url, assetLimits[kind]);
        return () => ({ media: seen, file: files.store(bytes, seen.facts.format, forever) });
      },
    });
    this.groupId = storage.getOrCreate('asset group', () => createTimestampedId('group', now()));
  }

  add(request: AssetRequest, triggers: Triggers): Asset {
    return this.#assets.add({
      id: createTimestampedId('asset', this.#options.now()),
      request,
      triggers,
      fate: fateOf(request, triggers),
      job: request,
    });
  }

  find(id: string, overseas: boolean): Asset | undefined {
    const asset = this.#assets.find(id);
    return asset?.request.overseas === overseas ? asset : undefined;
  }

  /** Throws a `NativeError` 400 when `url` refers to an asset that `model` cannot use now. */
  check(url: string, model: string, field: string): void {
    if (!reference.test(url)) return;
    if (this.#resolve(url, model)?.stage().name !== 'succeeded')
      throw invalidParameter(`${field}: ${url.slice(0, 100)} is no active asset`, field);
  }

  /** The media behind an asset reference; undefined for any other URL. Throws a `TaskFailure` if it is not active. */
  referenced(url: string, model: string): SeenMedia | undefined {
    if (!reference.test(url)) return undefined;
    const stage = this.#resolve(url, model)?.stage();
    if (stage?.name !== 'succeeded') throw new TaskFailure('InvalidParameter', 'The asset is not active');
    return stage.output.media;
  }

  #resolve(url: string, model: string): Asset | undefined {
    return this.find(url.replace(reference, ''), isOverseas(model));
  }

  /** A new URL each time that the last one has run out. */
  signUrl({ output, endedAt }: { output: AssetOutput; endedAt: number }): string {
    const { now, files } = this.#options;
    const runOut = Math.floor((now() - endedAt) / urlLifetime);
    return files.signUrl(output.file, endedAt + (runOut + 1) * urlLifetime);
  }
}

/** Does the model belong to the overseas accounts? */
export function isOverseas(model: string): boolean {
  return model.startsWith('zeta-');
}

function fateOf({ kind }: AssetRequest, triggers: Triggers): ForcedOutcome {
  if (triggers.has('never')) return 'never';
  if (triggers.has('sensitive')) {
    const media = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
    return {
      code: `Input${media}SensitiveContentDetected`,
      message: 'The media may contain sensitive content',
    };
  }
  if (triggers.has('fail-late'))
    return { code: 'FaceMismatch', message: 'The face does not match the verified person' };
  return undefined;
}

export function unknownAsset(): NativeError {
  return new NativeError(404, 'NotFound.Asset', 'There is no such asset');
}
