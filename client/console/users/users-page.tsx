import { useSignal } from '@preact/signals';
import { UserPlus, Users } from 'lucide';
import type { User } from '../../index.ts';
import { useLoaded, useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Badge, EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { addressOf, route } from '../shell/router.ts';
import { GrantToWallet } from './grant-to-wallet.tsx';
import { UserDialog } from './user-dialog.tsx';
import { UserView } from './user-view.tsx';
import './users.css';
import { TableHead } from '../parts/table-head.tsx';

/** Number of users that the page requests at once. */
const pageSize = 100;

/** The users of the gateway. The address selects one of them. */
export default function UsersPage() {
  const id = Number(route.value.query.get('user'));
  return id > 0 ? <UserView key={id} id={id} /> : <UserList />;
}

/** All users: create, change and disable them. */
function UserList() {
  const client = useClient();
  const name = useSignal('');
  const version = useSignal(0);
  /** `new` opens the form for a new user. */
  const edited = useSignal<User | 'new' | undefined>(undefined);
  const granted = useSignal<User | undefined>(undefined);
  const loaded = useLoaded(
    (signal) =>
      client.admin.users.list({ page_size: pageSize, ...(name.value && { name: name.value }) }, { signal }),
    `${name.value} ${version.value}`,
  ).state.value;
  const toggle = useRun<void>();
  const setDisabled = (user: User, disabled: boolean) =>
    void toggle.start(async (signal) => {
      await client.admin.users.update(user.id, { disabled }, { signal });
      version.value += 1;
    });
  const users = loaded.status === 'done' ? loaded.result : undefined;
  return (
    <>
      <PageHead title="Users">Each key belongs to a user, whose group sets prices and models.</PageHead>
      <div class="stack">
        <div class="row-between">
          <input
            class="input users-search"
            type="search"
            aria-label="Name of the user"
            placeholder="Find a user by name"
            value={name.value}
            onInput={(event) => (name.value = event.currentTarget.value.trim())}
          />
          <Button variant="primary" icon={UserPlus} onClick={() => (edited.value = 'new')}>
            Create user
          </Button>
        </div>
        {loaded.status === 'failed' && <ErrorNotice error={loaded.error} />}
        {toggle.state.value.status === 'failed' && <ErrorNotice error={toggle.state.value.error} />}
        {users?.items.length === 0 && (
          <EmptyState icon={Users} title="No user has this name.">
            <Button onClick={() => (name.value = '')}>Show all users</Button>
          </EmptyState>
        )}
        {users !== undefined && users.items.length > 0 && (
          <ScrollRegion label="Users">
            <table class="table">
              <TableHead
                columns={[
                  'Name',
                  'Group',
                  'Role',
                  { title: 'Keys', class: 'wide-only number' },
                  { title: 'Used quota', class: 'wide-only number' },
                  { title: 'Balance', class: 'wide-only number' },
                  { title: 'Created', class: 'wide-only' },
                  { title: 'Actions', isHidden: true },
                ]}
              />
              <tbody>
                {users.items.map((user) => (
                  <tr key={user.id}>
                    <td>
                      <a href={addressOf('users', { user: String(user.id) })}>{user.name}</a>{' '}
                      {user.disabled && <Badge tone="danger">disabled</Badge>}
                    </td>
                    <td>{user.group}</td>
                    <td>{user.role}</td>
                    <td class="wide-only number">{formatCount(user.keys)}</td>
                    <td class="wide-only number">
                      <Quota amount={user.used_quota} hasNoUnit />
                    </td>
                    <td class="wide-only number">
                      {user.has_wallet ? <Quota amount={user.remain_quota} hasNoUnit /> : '–'}
                    </td>
                    <td class="wide-only">
                      <Time at={user.created_time * 1_000} />
                    </td>
                    <td>
                      <div class="row users-actions wide-only">
                        <Button small onClick={() => (edited.value = user)}>
                          Change
                        </Button>
                        <Button small onClick={() => (granted.value = user)}>
                          Grant
                        </Button>
                        <Button small onClick={() => setDisabled(user, !user.disabled)}>
                          {user.disabled ? 'Enable' : 'Disable'}
                        </Button>
                      </div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRegion>
        )}
        {users !== undefined && users.total > pageSize && (
          <p class="muted">
            The first {formatCount(pageSize)} of {formatCount(users.total)} users. Enter a name to find
            others.
          </p>
        )}
      </div>
      {granted.value !== undefined && (
        <GrantToWallet
          user={granted.value}
          onClose={() => (granted.value = undefined)}
          onGranted={() => {
            granted.value = undefined;
            version.value += 1;
          }}
        />
      )}
      {edited.value !== undefined && (
        <UserDialog
          user={edited.value === 'new' ? undefined : edited.value}
          onClose={() => (edited.value = undefined)}
          onSaved={() => {
            edited.value = undefined;
            version.value += 1;
          }}
        />
      )}
    </>
  );
}
