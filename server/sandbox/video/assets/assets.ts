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
import type { MediaLoader, ValidatedMedia } from '../media-loader.ts';

/** Fields of an upload request. Stored on disk. */
interface AssetRequest {
  kind: MediaKind;
  url: string;
  name: string;
  /** Overseas accounts have separate assets. */
  overseas: boolean;
  /** Group of a verified person. Undefined: the group of the account. */
  groupId?: string | undefined;
}

interface AssetOutput {
  media: ValidatedMedia;
  /** File name. */
  file: string;
}

export type Asset = Task<AssetRequest, AssetOutput>;

interface AssetsOptions {
  storage: Storage;
  media: MediaLoader;
  files: FileStore;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Duration of the validation in milliseconds. */
  taskDurationMs: number;
}

const reference = /^asset:\/\//i;
/** Lifetime of an asset URL in milliseconds. */
const urlLifetimeMs = 12 * 60 * 60 * 1000;
/** Expiry of asset files. All file systems support this date as modification time. */
const fileExpiry = Date.UTC(2100, 0);

/** Media assets by id. An asset is downloaded and validated after the upload request, and is then active or failed. */
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
        const { bytes, ...validated } = await media.load(kind, url, assetLimits[kind]);
        return () => ({ media: validated, file: files.store(bytes, validated.facts.format, fileExpiry) });
      },
    });
    this.groupId = storage.getOrCreate('asset group', () => createTimestampedId('group', now()));
  }

  add(request: AssetRequest, triggers: Triggers): Asset {
    return this.#assets.add({
      id: createTimestampedId('asset', this.#options.now()),
      request,
      triggers,
      fate: forcedOutcome(request, triggers),
      job: request,
    });
  }

  find(id: string, overseas: boolean): Asset | undefined {
    const asset = this.#assets.find(id);
    return asset?.request.overseas === overseas ? asset : undefined;
  }

  /** Throws a `NativeError` 400 if `url` refers to an asset that `model` cannot use. */
  validateReference(url: string, model: string, field: string): void {
    if (!reference.test(url)) return;
    if (this.#resolve(url, model)?.stage().name !== 'succeeded')
      throw invalidParameter(`${field}: ${url.slice(0, 100)} is not an active asset`, field);
  }

  /**
   * Returns the media of an asset reference, or undefined for any other URL. Throws a `TaskFailure` if the asset is not
   * active.
   */
  findReferenced(url: string, model: string): ValidatedMedia | undefined {
    if (!reference.test(url)) return undefined;
    const stage = this.#resolve(url, model)?.stage();
    if (stage?.name !== 'succeeded') throw new TaskFailure('InvalidParameter', 'The asset is not active');
    return stage.output.media;
  }

  #resolve(url: string, model: string): Asset | undefined {
    return this.find(url.replace(reference, ''), isOverseas(model));
  }

  /** Returns a URL that changes when the previous one expires. */
  signUrl({ output, endedAt }: { output: AssetOutput; endedAt: number }): string {
    const { now, files } = this.#options;
    const runOut = Math.floor((now() - endedAt) / urlLifetimeMs);
    return files.signUrl(output.file, endedAt + (runOut + 1) * urlLifetimeMs);
  }
}

/** Returns true if the model belongs to overseas accounts. */
export function isOverseas(model: string): boolean {
  return model.startsWith('zeta-');
}

function forcedOutcome({ kind }: AssetRequest, triggers: Triggers): ForcedOutcome {
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

export function createAssetNotFoundError(): NativeError {
  return new NativeError(404, 'NotFound.Asset', 'The asset does not exist');
}
