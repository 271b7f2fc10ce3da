import type { MeReply } from '../../index.ts';
import { Quota } from '../parts/quota.tsx';

/** The quota of the wallet, if the key sees one, else of the key. */
export function Balance({ me: { key, wallet, user } }: { me: MeReply }) {
  const ofKey = { name: key.name, isUnlimited: key.unlimited_quota, remaining: key.remain_quota };
  const ofWallet = wallet && { name: user.name, isUnlimited: false, remaining: wallet.balance };
  const { name, isUnlimited, remaining } = ofWallet ?? ofKey;
  const { used, debt = 0 } = wallet ?? { used: key.used_quota, debt: key.debt };
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
