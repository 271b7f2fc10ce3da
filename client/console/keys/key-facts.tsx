import type { Token } from '../../index.ts';
import { Badge } from '../parts/notices.tsx';
import { formatCount, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';

const states = {
  1: { tone: 'success', label: 'Enabled' },
  2: { tone: 'neutral', label: 'Disabled' },
  3: { tone: 'warning', label: 'Expired' },
  4: { tone: 'danger', label: 'Exhausted' },
} as const;

export function KeyStatus({ status }: { status: Token['status'] }) {
  const { tone, label } = states[status];
  return <Badge tone={tone}>{label}</Badge>;
}

/** Remaining and used quota, with a meter for a limited key. */
export function KeyQuota({ token }: { token: Token }) {
  const { unlimited_quota: isUnlimited, remain_quota: remaining, used_quota: used, debt = 0 } = token;
  const total = remaining + used;
  return (
    <div class="key-quota">
      <span>
        {isUnlimited ? (
          'Unlimited'
        ) : (
          <>
            <Quota amount={remaining} hasNoUnit /> left
          </>
        )}
        <span class="muted">
          {' '}
          · <Quota amount={used} hasNoUnit /> used
        </span>
      </span>
      {!isUnlimited && total > 0 && (
        <meter min={0} max={total} value={remaining} aria-label={`Remaining quota of ${token.name}`} />
      )}
      {debt > 0 && (
        <span class="field-error">
          Debt of <Quota amount={debt} hasNoUnit />
        </span>
      )}
    </div>
  );
}

/** The limits of a key in a few words each. */
export function KeyLimits({ token }: { token: Token }) {
  const models = token.model_limits_enabled ? listOf(token.model_limits, ',') : [];
  const addresses = listOf(token.allow_ips, '\n');
  const requests = token.requests_per_minute ?? 0;
  const sockets = token.sockets ?? 0;
  return (
    <div class="row key-limits">
      {token.admin && <Badge tone="accent">Admin</Badge>}
      {token.session && <Badge tone="accent">Session</Badge>}
      {models.length > 0 && (
        <span title={models.join('\n')}>
          <Badge>{models.length === 1 ? models[0] : `${models.length} models`}</Badge>
        </span>
      )}
      {addresses.length > 0 && (
        <span title={addresses.join('\n')}>
          <Badge>{addresses.length === 1 ? addresses[0] : `${addresses.length} addresses`}</Badge>
        </span>
      )}
      {requests > 0 && <Badge>{formatCount(requests)} requests/min</Badge>}
      {sockets > 0 && <Badge>{formatCount(sockets)} sockets</Badge>}
      {token.create_keys === false && <Badge>Cannot create keys</Badge>}
      {token.expired_time > 0 && (
        <span class="secondary">
          until <Time at={token.expired_time * 1_000} />
        </span>
      )}
    </div>
  );
}

const listOf = (text: string | undefined, separator: string): string[] =>
  (text ?? '')
    .split(separator)
    .map((item) => item.trim())
    .filter(Boolean);
