import { useSignal } from '@preact/signals';
import { Building, Plus } from 'lucide';
import type { Account, Token } from '../../index.ts';
import { useLastResult, useLoaded, useRun } from '../calls/run.ts';
import { CreatedKey } from '../keys/created-key.tsx';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { session, useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { AccountDialog } from './account-dialog.tsx';
import { AccountKeys } from './account-keys.tsx';
import { AccountTable } from './account-table.tsx';
import { CreateAccountKey } from './create-account-key.tsx';

/** An open dialog and the sub-account that it concerns. */
type Open =
  | { name: 'create' }
  | { name: 'edit' | 'keys' | 'key' | 'disable'; account: Account }
  | { name: 'created'; token: Token };

/** The sub-accounts of a customer with a wallet: create, change and disable them. */
export default function AccountsPage() {
  const client = useClient();
  const me = session.value?.me;
  const open = useSignal<Open | undefined>(undefined);
  const reloads = useSignal(0);
  const enable = useRun<void>();
  const run = useLoaded((signal) => client.me.accounts.list({ signal }), reloads.value);
  const state = run.state.value;
  const accounts = useLastResult(run);
  const close = () => (open.value = undefined);
  const reload = () => {
    close();
    reloads.value += 1;
  };
  const setDisabled = async (id: number, disabled: boolean, signal: AbortSignal) => {
    await client.me.accounts.update(id, { disabled }, { signal });
    reload();
  };
  const current = open.value;
  const createButton = (
    <Button variant="primary" icon={Plus} onClick={() => (open.value = { name: 'create' })}>
      Create account
    </Button>
  );
  return (
    <>
      <PageHead title="Accounts">
        Sub-accounts of {me?.user.name}, such as offices or customers. Their keys draw from your wallet.
      </PageHead>
      <div class="stack">
        {state.status === 'failed' && <ErrorNotice error={state.error} />}
        {enable.state.value.status === 'failed' && <ErrorNotice error={enable.state.value.error} />}
        {accounts === undefined && state.status !== 'failed' && <div class="skeleton list-skeleton" />}
        {accounts?.length === 0 && (
          <EmptyState icon={Building} title="There are no accounts yet.">
            <p>An account sees only its own calls. Usage and statements show what each account spends.</p>
            {createButton}
          </EmptyState>
        )}
        {accounts !== undefined && accounts.length > 0 && (
          <>
            <div class="row list-create">{createButton}</div>
            <AccountTable
              accounts={accounts}
              onShowKeys={(account) => (open.value = { name: 'keys', account })}
              onCreateKey={(account) => (open.value = { name: 'key', account })}
              onChange={(account) => (open.value = { name: 'edit', account })}
              onDisable={(account) => (open.value = { name: 'disable', account })}
              onEnable={({ id }) => void enable.start((signal) => setDisabled(id, false, signal))}
            />
          </>
        )}
      </div>
      {current?.name === 'create' && (
        <AccountDialog
          onClose={close}
          onSaved={(account) => {
            reload();
            open.value = { name: 'key', account };
          }}
        />
      )}
      {current?.name === 'edit' && (
        <AccountDialog account={current.account} onClose={close} onSaved={reload} />
      )}
      {current?.name === 'keys' && (
        <AccountKeys
          account={current.account}
          onClose={close}
          onRevoked={() => {
            reloads.value += 1;
          }}
        />
      )}
      {current?.name === 'key' && (
        <CreateAccountKey
          account={current.account}
          onClose={close}
          onCreated={(token) => {
            reload();
            open.value = { name: 'created', token };
          }}
        />
      )}
      {current?.name === 'created' && <CreatedKey token={current.token} onClose={close} />}
      {current?.name === 'disable' && (
        <ConfirmDialog
          title={`Disable ${current.account.name}?`}
          label="Disable account"
          onClose={close}
          call={(signal) => setDisabled(current.account.id, true, signal)}
        >
          The gateway refuses all keys of the account and closes its sockets, until you enable it again.
        </ConfirmDialog>
      )}
    </>
  );
}
