import { useSignal } from '@preact/signals';
import { Ban, CircleCheck, Coins, Pencil } from 'lucide';
import type { Unigate, User } from '../../index.ts';
import { useLastResult, useLoaded, useRun } from '../calls/run.ts';
import { membersOf } from '../members/member-calls.ts';
import { Members } from '../members/members.tsx';
import { BackLink } from '../parts/back-link.tsx';
import { Button } from '../parts/button.tsx';
import { Badge, ErrorNotice } from '../parts/notices.tsx';
import { formatCount, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { addressOf, replaceQuery, route } from '../shell/router.ts';
import { type StatementCalls, Statements } from '../statements/statements.tsx';
import { Budgets } from '../usage/budgets.tsx';
import '../usage/usage.css';
import { GrantToWallet } from './grant-to-wallet.tsx';
import { UserDialog } from './user-dialog.tsx';
import { UserKeys } from './user-keys.tsx';
import { UserWallet } from './user-wallet.tsx';

const tabs = ['Wallet', 'Budgets', 'Members', 'Keys', 'Statements'];

/** A user for operators: balance, budgets, members, keys and statements. */
export function UserView({ id }: { id: number }) {
  const client = useClient();
  const reloads = useSignal(0);
  const open = useSignal<'edit' | 'grant' | undefined>(undefined);
  const change = useRun<void>();
  const run = useLoaded((signal) => client.admin.users.retrieve(id, { signal }), reloads.value);
  const state = run.state.value;
  const user = useLastResult(run);
  const { query } = route.value;
  const tab = tabs.find((name) => name.toLowerCase() === query.get('tab')) ?? 'Wallet';
  const close = () => (open.value = undefined);
  const reload = () => {
    close();
    reloads.value += 1;
  };
  const setDisabled = (disabled: boolean) =>
    void change.start(async (signal) => {
      await client.admin.users.update(id, { disabled }, { signal });
      reload();
    });
  return (
    <div class="stack">
      <BackLink href={addressOf('users')}>Users</BackLink>
      <PageHead title={user?.name ?? 'User'} />
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      {change.state.value.status === 'failed' && <ErrorNotice error={change.state.value.error} />}
      {user && (
        <>
          <div class="user-head stack">
            <div class="row">
              <Button variant="primary" icon={Coins} onClick={() => (open.value = 'grant')}>
                Grant quota
              </Button>
              <Button icon={Pencil} onClick={() => (open.value = 'edit')}>
                Change
              </Button>
              <Button
                icon={user.disabled ? CircleCheck : Ban}
                busy={change.state.value.status === 'running'}
                onClick={() => setDisabled(!user.disabled)}
              >
                {user.disabled ? 'Enable' : 'Disable'}
              </Button>
            </div>
            <Facts user={user} />
          </div>
          <Tabs
            label="Details of the user"
            names={tabs}
            selected={tab}
            onSelect={(name) => replaceQuery({ user: String(id), tab: name.toLowerCase() })}
          >
            <div class="user-tab">
              {tab === 'Wallet' && <UserWallet key={reloads.value} user={user} />}
              {tab === 'Budgets' && <Budgets owner={id} />}
              {tab === 'Members' && <Members calls={membersOf(client, id)} />}
              {tab === 'Keys' && <UserKeys id={id} />}
              {tab === 'Statements' && <Statements calls={statementsOf(client, id)} />}
            </div>
          </Tabs>
          {open.value === 'edit' && <UserDialog user={user} onClose={close} onSaved={reload} />}
          {open.value === 'grant' && <GrantToWallet user={user} onClose={close} onGranted={reload} />}
        </>
      )}
    </div>
  );
}

function Facts({ user }: { user: User }) {
  return (
    <dl class="card facts">
      <dt>State</dt>
      <dd>
        <Badge tone={user.disabled ? 'danger' : 'success'}>{user.disabled ? 'Disabled' : 'Enabled'}</Badge>
      </dd>
      <dt>User id</dt>
      <dd class="numeric">{user.id}</dd>
      <dt>Group</dt>
      <dd>{user.group}</dd>
      <dt>Role</dt>
      <dd>{user.role}</dd>
      <dt>Used</dt>
      <dd>
        <Quota amount={user.used_quota} />, {formatCount(user.keys)} {user.keys === 1 ? 'key' : 'keys'}
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={user.created_time * 1_000} />
      </dd>
    </dl>
  );
}

/** Returns the methods of an operator for the statements of a user. */
function statementsOf({ admin }: Unigate, id: number): StatementCalls {
  const { statements } = admin.users;
  return {
    list: (options) => statements.list(id, options),
    retrieve: (month, options) => statements.retrieve(id, month, options),
    download: (month, format, options) => statements.download(id, month, format, options),
  };
}
