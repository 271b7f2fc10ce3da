import { useSignal } from '@preact/signals';
import { Wallet as WalletIcon } from 'lucide';
import type { User, Wallet, WalletGrant } from '../../index.ts';
import { useLastResult, useLoaded } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatChange, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { Stats } from '../parts/stats.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { useClient } from '../session/session.ts';

/** The wallet of a user with its grants. */
export function UserWallet({ user }: { user: User }) {
  if (!user.has_wallet)
    return (
      <EmptyState icon={WalletIcon} title="The user has no wallet.">
        <p>
          Its keys have a quota each, <Quota amount={user.remain_quota} /> in all. The first grant opens a
          wallet, from which all keys draw.
        </p>
      </EmptyState>
    );
  return (
    <div class="stack">
      <Balance id={user.id} />
      <Grants id={user.id} />
    </div>
  );
}

function Balance({ id }: { id: number }) {
  const client = useClient();
  const state = useLoaded((signal) => client.admin.users.wallets.retrieve(id, { signal })).state.value;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (state.status !== 'done') return <div class="card skeleton user-skeleton" />;
  return (
    <section class="card" aria-label="Balance">
      <Stats items={figuresOf(state.result)} />
    </section>
  );
}

const figuresOf = ({ balance, reserved, used, debt, created_time: created }: Wallet) => ({
  Balance: <Quota amount={balance} />,
  Reserved: reserved > 0 ? <Quota amount={reserved} /> : undefined,
  Used: <Quota amount={used} />,
  Debt: debt > 0 ? <Quota amount={debt} /> : undefined,
  Opened: <Time isBrief at={created * 1_000} />,
});

const pageSize = 20;

function Grants({ id }: { id: number }) {
  const client = useClient();
  const limit = useSignal(pageSize);
  const run = useLoaded(
    (signal) => client.admin.users.wallets.listGrants(id, { page_size: limit.value }, { signal }),
    limit.value,
  );
  const state = run.state.value;
  const page = useLastResult(run);
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (page === undefined) return null;
  return (
    <section class="stack">
      <h2>Grants</h2>
      <ScrollRegion label="Grants">
        <table class="table">
          <TableHead
            columns={[
              'Time',
              { title: 'Amount', class: 'number' },
              { title: 'Balance after', class: 'number' },
              { title: 'Reason', class: 'wide-only' },
              { title: 'Reference', class: 'wide-only' },
            ]}
          />
          <tbody>
            {page.items.map((grant) => (
              <tr key={grant.id}>
                <td>
                  <Time isBrief at={grant.created_at * 1_000} />
                </td>
                <td class="number">{formatChange(grant.amount)}</td>
                <td class="number">
                  <Quota amount={grant.balance} hasNoUnit />
                </td>
                <td class="wide-only user-reason">{reasonOf(grant)}</td>
                <td class="wide-only">{grant.reference === null ? '–' : <code>{grant.reference}</code>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {page.has_more && (
        <div>
          <Button small busy={state.status === 'running'} onClick={() => (limit.value += pageSize)}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}

const reasonOf = ({ kind, reason }: WalletGrant) =>
  kind === 'taken_over' ? 'Quota of the keys when the wallet was opened' : reason;
