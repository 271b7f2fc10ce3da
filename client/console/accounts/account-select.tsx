import { computed } from '@preact/signals';
import { useLoaded } from '../calls/run.ts';
import { ErrorNotice } from '../parts/notices.tsx';
import { rights, session, useClient } from '../session/session.ts';
import { replaceQuery, route } from '../shell/router.ts';
import './accounts.css';

/** Id of the account that the address selects. Undefined: the user with all its sub-accounts. */
export const selectedAccount = computed<number | undefined>(() => {
  const id = Number(route.value.query.get('account'));
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
});

/** Whether the user of the key can have sub-accounts, and the key sees them. */
export const seesAccounts = computed(
  () => rights.value.has('user') && (session.value?.me.wallet ?? null) !== null,
);

/** Selects the user or one of its sub-accounts. Shows nothing for a user without sub-accounts. */
export function AccountSelect() {
  return seesAccounts.value ? <Select /> : null;
}

function Select() {
  const client = useClient();
  const state = useLoaded((signal) => client.me.accounts.list({ signal })).state.value;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (state.status !== 'done' || state.result.length === 0) return null;
  const select = (account: string) =>
    replaceQuery({ ...Object.fromEntries(route.peek().query), account: account || undefined });
  return (
    <select
      class="input account-select"
      aria-label="Account"
      value={selectedAccount.value ?? ''}
      onChange={(event) => select(event.currentTarget.value)}
    >
      <option value="">All accounts</option>
      {state.result.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
