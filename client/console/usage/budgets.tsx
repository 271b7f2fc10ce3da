import { useSignal } from '@preact/signals';
import { Plus } from 'lucide';
import type { Budget, Token } from '../../index.ts';
import { useLastResult, useLoaded } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { formatNumber, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { isAdmin, rights, useClient } from '../session/session.ts';
import { CreateBudget } from './create-budget.tsx';
import { DeleteBudget } from './delete-budget.tsx';
import { EditBudget } from './edit-budget.tsx';

/** An open dialog and the budget that it concerns. */
type Open = { name: 'create' } | { name: 'edit' | 'delete'; budget: Budget };

interface Loaded {
  items: readonly Budget[];
  /** The keys of budgets. */
  tokens: readonly Token[];
}

const pageSize = 1_000;

/** Whose budgets are shown: those that the key sees, those of all users, or those of one user by id. */
type Owner = 'own' | 'all' | number;

/** The budgets of an owner. Admin keys create, change and delete them. */
export function Budgets({ owner }: { owner: Owner }) {
  const client = useClient();
  const reloads = useSignal(0);
  const open = useSignal<Open | undefined>(undefined);
  const run = useLoaded<Loaded>(async (signal) => {
    const ofUser = typeof owner === 'number' ? { user_id: owner } : {};
    const load =
      owner === 'own'
        ? client.me.budgets({ signal })
        : client.admin.budgets.list({ page_size: pageSize, ...ofUser }, { signal });
    const { items } = await load;
    // Names are read only for budgets of keys.
    if (owner === 'all' || items.every(({ token_id }) => token_id === null)) return { items, tokens: [] };
    // A billing member does not list keys.
    if (!rights.peek().has('calls')) return { items, tokens: [] };
    const keys = await (owner === 'own'
      ? client.tokens.list({ page_size: pageSize }, { signal })
      : client.admin.tokens.list({ page_size: pageSize, ...ofUser }, { signal }));
    return { items, tokens: keys.items };
  }, `${owner} ${reloads.value}`);
  const state = run.state.value;
  const loaded = useLastResult(run);
  const close = () => (open.value = undefined);
  const reload = () => {
    close();
    reloads.value += 1;
  };
  const current = open.value;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (loaded === undefined) return null;
  const { items, tokens } = loaded;
  if (items.length === 0 && !isAdmin.value) return null;
  return (
    <section class="card stack" aria-label="Budgets">
      <div class="row-between">
        <h2>Budgets</h2>
        {isAdmin.value && (
          <Button small icon={Plus} onClick={() => (open.value = { name: 'create' })}>
            Create budget
          </Button>
        )}
      </div>
      {items.length === 0 && (
        <p class="secondary">
          There is no budget. A budget limits or reports what a user or key spends in a period.
        </p>
      )}
      {items.map((budget) => (
        <BudgetBar
          key={budget.id}
          budget={budget}
          name={nameOf(budget, tokens, owner === 'all')}
          onChange={() => (open.value = { name: 'edit', budget })}
          onDelete={() => (open.value = { name: 'delete', budget })}
        />
      ))}
      {current?.name === 'create' && (
        <CreateBudget
          userId={typeof owner === 'number' ? owner : undefined}
          onClose={close}
          onSaved={reload}
        />
      )}
      {current?.name === 'edit' && <EditBudget budget={current.budget} onClose={close} onSaved={reload} />}
      {current?.name === 'delete' && (
        <DeleteBudget budget={current.budget} onClose={close} onDeleted={reload} />
      )}
    </section>
  );
}

interface BudgetBarProps {
  budget: Budget;
  name: string;
  onChange: () => void;
  onDelete: () => void;
}

function BudgetBar({ budget, name, onChange, onDelete }: BudgetBarProps) {
  const { amount, spent, reserved, period, hard, period_end: end } = budget;
  const percentage = amount === 0 ? 100 : (spent / amount) * 100;
  const label = `${periods[period]} budget of ${name}`;
  return (
    <div class="budget">
      <div class="row-between">
        <span class="row">
          <strong>{label}</strong>
          <Badge>{hard ? 'refuses calls' : 'reports only'}</Badge>
          {spent >= amount && <Badge tone={hard ? 'danger' : 'warning'}>reached</Badge>}
        </span>
        {isAdmin.value && (
          <span class="row">
            <Button small label={`Change the ${label.toLowerCase()}`} onClick={onChange}>
              Change
            </Button>
            <Button small label={`Delete the ${label.toLowerCase()}`} onClick={onDelete}>
              Delete
            </Button>
          </span>
        )}
      </div>
      <progress
        class="progress"
        max={Math.max(amount, 1)}
        value={amount === 0 ? 1 : Math.min(spent, amount)}
        data-reached={spent >= amount}
        aria-label={`Spent of the ${label.toLowerCase()}`}
      />
      <p class="row-between secondary numeric">
        <span>
          <Quota amount={spent} hasNoUnit /> of <Quota amount={amount} />, {formatNumber(percentage)} %
          {reserved > 0 && (
            <>
              , <Quota amount={reserved} hasNoUnit /> reserved
            </>
          )}
        </span>
        <span>
          Starts again <Time at={end * 1_000} isBrief />
        </span>
      </p>
    </div>
  );
}

const periods = { daily: 'Daily', weekly: 'Weekly', monthly: 'Monthly' } as const;

function nameOf(
  { user_id: user, token_id: key }: Budget,
  tokens: readonly Token[],
  showsAll: boolean,
): string {
  if (key === null) return showsAll ? `user ${user}` : 'all keys';
  const token = tokens.find(({ id }) => id === key);
  return token === undefined ? `key ${key}` : `${token.name} (${key})`;
}
