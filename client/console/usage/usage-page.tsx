import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { AccountSelect, seesAccounts, selectedAccount } from '../accounts/account-select.tsx';
import { isAdmin, refreshSession, rights, session } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { Balance } from './balance.tsx';
import { Budgets } from './budgets.tsx';
import { accountGroups, adminGroups, type Group, ownGroups, ranges, userGroups } from './figures.ts';
import { UsageFigures } from './usage-figures.tsx';
import './usage.css';

/** Usage of the key, or of all users for an admin key. */
export default function UsagePage() {
  const current = session.value;
  const rangeIndex = useSignal(2);
  const group = useSignal<Group>('model');
  const showsAll = useSignal(false);
  useEffect(() => {
    // The balance of the sign-in stays visible if the gateway does not respond.
    refreshSession().catch(() => undefined);
  }, []);
  const account = seesAccounts.value && !showsAll.value ? selectedAccount.value : undefined;
  const own: readonly Group[] = [
    ...ownGroups,
    ...(rights.value.has('user') ? userGroups : []),
    ...(seesAccounts.value ? accountGroups : []),
  ];
  const groups = showsAll.value ? adminGroups : own;
  const range = ranges[rangeIndex.value] ?? ranges[0];
  return (
    <>
      <PageHead title="Usage">Calls, quota, units and failures over time.</PageHead>
      <div class="stack">
        <div class="row">
          {isAdmin.value && (
            <select
              class="input usage-select"
              aria-label="Scope"
              value={showsAll.value ? 'all' : 'own'}
              onChange={(event) => {
                showsAll.value = event.currentTarget.value === 'all';
                group.value = 'model';
              }}
            >
              <option value="own">My keys</option>
              <option value="all">All users</option>
            </select>
          )}
          {!showsAll.value && <AccountSelect />}
          <select
            class="input usage-select"
            aria-label="Range"
            value={rangeIndex.value}
            onChange={(event) => (rangeIndex.value = Number(event.currentTarget.value))}
          >
            {ranges.map(({ label }, index) => (
              <option key={label} value={index}>
                {label}
              </option>
            ))}
          </select>
          <select
            class="input usage-select"
            aria-label="Group"
            value={group.value}
            onChange={(event) => {
              group.value = groups.find((name) => name === event.currentTarget.value) ?? 'model';
            }}
          >
            {groups.map((name) => (
              <option key={name} value={name}>
                By {name}
              </option>
            ))}
          </select>
        </div>
        {current && !showsAll.value && <Balance me={current.me} />}
        <Budgets owner={showsAll.value ? 'all' : 'own'} />
        {range && (
          <UsageFigures range={range} group={group.value} showsAll={showsAll.value} account={account} />
        )}
      </div>
    </>
  );
}
