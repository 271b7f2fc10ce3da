import type { Gateway } from '../../http/gateway.ts';
import { type AssetStatus, fetchAsset } from '../../providers/official/assets.ts';
import type { AssetEnd } from '../../store/commands/assets.ts';
import { findAssets } from '../../store/queries/assets.ts';
import type { AssetsTable } from '../../store/schema.ts';
import { reportDriverError } from '../../tasks/driver.ts';

const hourMs = 60 * 60_000;
/** Lifetime of a signed URL. */
const urlLifetimeMs = 12 * hourMs;
/** A URL is renewed when no more than this time remains. */
const renewalMarginMs = hourMs;
const timeoutMs = 5_000;
/** A provider may not find a new asset for this time, in milliseconds. */
const visibilityDelayMs = 60_000;

/**
 * Returns the current asset. Polls the provider while the asset is processing or when its URL is about to expire.
 * Concurrent readers share one poll. Returns the stored state when the poll fails.
 */
export function refreshAsset(gateway: Gateway, asset: AssetsTable): Promise<AssetsTable> {
  if (!needsRefresh(asset, gateway.clock())) return Promise.resolve(asset);
  const { assetRefreshes } = gateway;
  const running = assetRefreshes.get(asset.id);
  if (running !== undefined) return running;
  const refresh = fetchAndRecord(gateway, asset).finally(() => assetRefreshes.delete(asset.id));
  assetRefreshes.set(asset.id, refresh);
  return refresh;
}

function needsRefresh({ status, url_expires }: AssetsTable, now: number): boolean {
  return status === 'Processing' || (status === 'Active' && (url_expires ?? 0) - now <= renewalMarginMs);
}

async function fetchAndRecord(gateway: Gateway, asset: AssetsTable): Promise<AssetsTable> {
  const reported = await fetchStatus(gateway, asset);
  if (reported === undefined) return asset;
  const { id, user_id: userId } = asset;
  const now = gateway.clock();
  if (asset.status === 'Processing') {
    const end = endOf(reported, now);
    if (end === undefined) return asset;
    // The asset may have changed before the poll.
    const changedAt =
      'ageMs' in reported && reported.ageMs !== undefined ? asset.created_at + reported.ageMs : now;
    await gateway.store.run('finishAsset', { id, end, now: Math.min(now, changedAt) });
  } else {
    // The lifetime of an unchanged URL is unknown, so the next reader polls again.
    if (reported.status !== 'Active' || reported.url === asset.url) return asset;
    await gateway.store.run('renewAssetUrl', { id, url: reported.url, urlExpires: now + urlLifetimeMs });
  }
  const [current] = await findAssets(gateway.store.read, { ids: [id], userId });
  return current ?? asset;
}

function endOf(reported: AssetStatus, now: number): AssetEnd | undefined {
  if (reported.status === 'Processing') return undefined;
  if (reported.status === 'Failed') return reported;
  return { ...reported, urlExpires: now + urlLifetimeMs };
}

/** Undefined when the poll fails. */
async function fetchStatus(
  { channels, logger, clock }: Gateway,
  { id, user_id: user, channel: name, upstream_id: upstreamId, model, created_at }: AssetsTable,
): Promise<AssetStatus | undefined> {
  const channel = channels.named(name);
  if (channel === undefined) return undefined;
  const attempt = channel.health.startAttempt({ user, poll: true });
  try {
    // Not the client's signal, because other readers may wait for the same poll.
    const upstream = { channel, user, signal: AbortSignal.timeout(timeoutMs) };
    const reported = await fetchAsset(upstream, { upstreamId, model });
    attempt.succeed();
    return reported.status === 'Failed'
      ? { ...reported, message: reported.message.replaceAll(upstreamId, id) }
      : reported;
  } catch (error) {
    const about = { asset: id };
    const candidate = { channel, attempt };
    const { kind, failure } = reportDriverError(logger, error, candidate, 'could not poll an asset', about);
    const isLost = kind === 'rejected' && failure.status === 404 && clock() - created_at > visibilityDelayMs;
    return isLost
      ? { status: 'Failed', code: failure.code, message: failure.message.replaceAll(upstreamId, id) }
      : undefined;
  }
}
