import { ProviderFailure, type TaskError } from '../../lib/failure.ts';
import { defined, field, idField, objectField, textField, timeField } from '../../lib/json.ts';
import type { AssetType } from '../../store/schema.ts';
import type { Upstream } from '../../tasks/driver.ts';
import { ProviderRedactor } from '../provider-redactor.ts';
import { defaultRejection } from '../rejection.ts';
import { invalidResponse, rejected, requestTask } from '../task-request.ts';

const failed: TaskError = { code: 'AssetFailed', message: 'The provider gave no reason.' };

export interface AssetUpload {
  url: string;
  assetType: AssetType;
  name: string | undefined;
  /** The overseas model. Null for all other models. */
  model: string | null;
  /** The provider's id of a group from identity verification. Undefined lets the provider choose. */
  groupId?: string | undefined;
}

/** State of an asset at the provider. `ageMs` is the time from its creation to this state, if reported. */
export type AssetStatus =
  | { status: 'Processing' }
  | { status: 'Active'; url: string; ageMs?: number | undefined }
  | { status: 'Failed'; code: string; message: string; ageMs?: number | undefined };

const maxUrlLength = 8192;
const maxMessageLength = 2000;

/** Uploads media by URL. Returns the provider's id. @throws DriverError as `requestTask` */
export async function uploadMedia(upstream: Upstream, asset: AssetUpload): Promise<string> {
  const { url, assetType, name, model, groupId } = asset;
  const answer = await requestTask(upstream, {
    method: 'POST',
    path: `/api/assets/upload${regionQuery(upstream, model)}`,
    body: defined({ url, asset_type: assetType, name, group_id: groupId }),
  });
  const id = idField(assetData(answer, new ProviderRedactor(upstream.channel, url)), 'Id');
  if (id === undefined) throw invalidResponse();
  return id;
}

/** Fetches the state of an asset. @throws DriverError as `requestTask` */
export async function fetchAsset(
  upstream: Upstream,
  { upstreamId, model }: { upstreamId: string; model: string | null },
): Promise<AssetStatus> {
  const path = `/api/assets/${encodeURIComponent(upstreamId)}${regionQuery(upstream, model)}`;
  const redactor = new ProviderRedactor(upstream.channel);
  const data = assetData(await requestTask(upstream, { method: 'GET', path }), redactor);
  switch (textField(data, 'Status')?.toLowerCase()) {
    case undefined:
      throw invalidResponse();
    case 'active': {
      const url = textField(data, 'URL');
      if (url === undefined || url.length > maxUrlLength || !URL.canParse(url)) throw invalidResponse();
      return { status: 'Active', url, ageMs: ageOf(data) };
    }
    case 'failed': {
      const error = objectField(data, 'Error');
      // PostgreSQL rejects NUL in a text.
      const reported = (name: string) =>
        redactor.redact((textField(error, name) ?? '').replaceAll('\0', ''), maxMessageLength);
      const code = redactor.redactCode(reported('Code')) || failed.code;
      const message = reported('Message') || failed.message;
      return { status: 'Failed', code, message, ageMs: ageOf(data) };
    }
    default:
      return { status: 'Processing' };
  }
}

/** Uses only the provider's clock, which may differ from ours. */
function ageOf(data: unknown): number | undefined {
  const age = timeField(data, 'UpdateTime') - timeField(data, 'CreateTime');
  return age >= 0 ? age : undefined;
}

/** The overseas account stores assets separately. The model in the query selects it. */
function regionQuery({ channel }: Upstream, model: string | null): string {
  return model === null ? '' : `?model=${encodeURIComponent(channel.upstreamModel(model))}`;
}

const successCodes: ReadonlySet<number | string> = new Set([0, '0', 'success']);

/** Reads the envelope, whose code may report a rejection with HTTP 200. */
function assetData(answer: unknown, redactor: ProviderRedactor): Readonly<Record<string, unknown>> {
  const code = field(answer, 'code');
  if ((typeof code === 'number' || typeof code === 'string') && !successCodes.has(code)) {
    const message = redactor.redact(textField(answer, 'message') ?? defaultRejection);
    const reportedCode = redactor.redactCode(String(code), maxMessageLength);
    throw rejected(new ProviderFailure(400, reportedCode, message));
  }
  const data = objectField(answer, 'data');
  if (data === undefined) throw invalidResponse();
  return data;
}
