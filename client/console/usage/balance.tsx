import type { MeReply } from '../../index.ts';
import { Quota } from '../parts/numbers.tsx';

/** The quota of the key. */
export function Balance({ me: { key } }: { me: MeReply }) {
  const { name, unlimited_quota: isUnlimited, remain_quota: remaining, used_quota: used, debt = 0 } = key;
  return (
    <section class="card balance" aria-label="Balance">
      <div>
        <p class="muted">Balance of {name}</p>
        <p class="balance-amount">{isUnlimited ? 'Unlimited' : <Quota amount={remaining} />}</p>
      </div>
      <div>
        <p class="muted">Used</p>
        <p class="balance-amount">
          <Quota amount={used} />
        </p>
      </div>
      {debt > 0 && (
        <div>
          <p class="muted">Debt</p>
          <p class="balance-amount">
            <Quota amount={debt} />
          </p>
        </div>
      )}
      {!isUnlimited && remaining + used > 0 && (
        <meter min={0} max={remaining + used} value={remaining} aria-label="Remaining quota" />
      )}
    </section>
  );
}
