import { Badge } from '../parts/notices.tsx';
import { formatNumber } from '../parts/numbers.tsx';
import { formatQuota, Quota } from '../parts/quota.tsx';
import { useClient } from '../session/session.ts';
import { addressOf } from '../shell/router.ts';
import { useLoaded } from './run.ts';

/** The gateway writes the entry when the call ends, so the first search may come too early. */
const attempts = 10;
const attemptDelayMs = 300;

/** The cost of a call, as arithmetic, with a link to its entry in the request log, and whether the sandbox served it. */
export function Cost({ requestId }: { requestId: string }) {
  const client = useClient();
  const entry = useLoaded(async (abort) => {
    for (let attempt = 0; attempt < attempts && !abort.aborted; attempt += 1) {
      const { items } = await client.logs.search({ keyword: requestId }, { signal: abort });
      const found = items.find(({ request_id }) => request_id === requestId);
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, attemptDelayMs));
    }
    return undefined;
  }, requestId).state.value;
  if (entry.status !== 'done' || entry.result === undefined) return null;
  const { quota, unit_price: unitPrice, group_ratio: ratio = 1, sandbox } = entry.result;
  const price = unitPrice ?? 0;
  const units = price > 0 && ratio > 0 ? quota / price / ratio : undefined;
  return (
    <span class="row">
      <a class="secondary" href={addressOf('activity', { request: requestId })}>
        {units !== undefined &&
          `${formatNumber(units)} × ${formatQuota(price)}${ratio === 1 ? '' : ` × ${formatNumber(ratio)}`} = `}
        <Quota amount={quota} />
      </a>
      {sandbox && <SandboxBadge />}
    </span>
  );
}

/** Marks a result that the sandbox made, without a provider. */
export function SandboxBadge() {
  return <Badge tone="warning">Made by the sandbox</Badge>;
}
