import { ProviderFailure, type TaskError } from '../../lib/failure.ts';
import type { AssetType } from '../../store/schema.ts';
import { DriverError, type Upstream } from '../../tasks/driver.ts';
import { askForTask, badAnswer } from '../ask-for-task.ts';
import { field, objectField, textField } from '../json.ts';
import { ProviderWords } from '../provider-words.ts';

const failed: TaskError = { code: 'AssetFailed', message: 'The provider gave no reason.' };

export interface AssetUpload {
  url: string;
  assetType: AssetType;
  /** Undefined: the client gave none. */
  name: string | undefined;
  /** The overseas model; null for all others. */
  model: string | null;
  /** The provider's id of the group of a verified person; undefined: its own choice. */
  groupId?: string | undefined;
}

/** What the provider reports of an asset. `ageMs`: how long after its making it came to that, where it says so. */
export type AssetStatus =
  | { status: 'Processing' }
  | { status: 'Active'; url: string; ageMs?: number | undefined }
  | { status: 'Failed'; code: string; message: string; ageMs?: number | undefined };

/** Longest id and longest address of a provider that are taken for what they say they are. */
const maxIdLength = 256;
const maxUrlLength = 8192;
const maxMessageLength = 2000;

/**
 * Has the provider fetch the media, and gives its id for it.
 *
 * @throws DriverError as `askForTask`
 */
export async function uploadMedia(upstream: Upstream, asset: AssetUpload): Promise<string> {
  const { url, assetType, name, model, groupId } = asset;
  const answer = await askForTask(upstream, {
    method: 'POST',
    path: `/api/assets/upload${regionQuery(upstream, model)}`,
    body: {
      url,
      asset_type: assetType,
      ...(name !== undefined && { name }),
      ...(groupId !== undefined && { group_id: groupId }),
    },
  });
  const id = textField(assetData(answer, new ProviderWords(upstream.channel, url)), 'Id');
  if (id === undefined || id.length > maxIdLength || id.includes('\0')) throw badAnswer();
  return id;
}

/**
 * Asks for the state of an asset.
 *
 * @throws DriverError as `askForTask`
 */
export async function askForAsset(
  upstream: Upstream,
  { upstreamId, model }: { upstreamId: string; model: string | null },
): Promise<AssetStatus> {
  const path = `/api/assets/${encodeURIComponent(upstreamId)}${regionQuery(upstream, model)}`;
  const data = assetData(
    await askForTask(upstream, { method: 'GET', path }),
    new ProviderWords(upstream.channel),
  );
  switch (textField(data, 'Status')?.toLowerCase()) {
    case undefined:
      throw badAnswer();
    case 'active': {
      const url = textField(data, 'URL');
      if (url === undefined || url.length > maxUrlLength || !URL.canParse(url)) throw badAnswer();
      return { status: 'Active', url, ageMs: ageOf(data) };
    }
    case 'failed': {
      const error = objectField(data, 'Error');
      const words = new ProviderWords(upstream.channel);
      const reported = (name: string) => words.text(storable(textField(error, name)), maxMessageLength);
      const code = words.code(reported('Code')) || failed.code;
      const message = reported('Message') || failed.message;
      return { status: 'Failed', code, message, ageMs: ageOf(data) };
    }
    default:
      return { status: 'Processing' };
  }
}

/** By the provider's own clock, whatever that shows. */
function ageOf(data: unknown): number | undefined {
  const reported = (name: string) => Date.parse(textField(data, name) ?? '');
  const age = reported('UpdateTime') - reported('CreateTime');
  return age >= 0 ? age : undefined;
}

/** The overseas account keeps assets of its own, which the model in the query selects. */
function regionQuery({ channel }: Upstream, model: string | null): string {
  return model === null ? '' : `?model=${encodeURIComponent(channel.upstreamModel(model))}`;
}

/** How providers write that all is well. */
const successes: ReadonlySet<number | string> = new Set([0, '0', 'success']);

/** What the envelope holds; its code shows a refusal that came with HTTP 200. */
function assetData(answer: unknown, words: ProviderWords): Readonly<Record<string, unknown>> {
  const code = field(answer, 'code');
  if ((typeof code === 'number' || typeof code === 'string') && !successes.has(code)) {
    const message = words.text(textField(answer, 'message') ?? 'The provider refused the request.');
    throw new DriverError(
      'rejected',
      new ProviderFailure(400, words.code(String(code), maxMessageLength), message),
    );
  }
  const data = objectField(answer, 'data');
  if (data === undefined) throw badAnswer();
  return data;
}

/** PostgreSQL knows no NUL in a text. */
function storable(text = ''): string {
  return text.replaceAll('\0', '');
}
