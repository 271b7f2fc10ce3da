import { type Signal, useSignal } from '@preact/signals';
import { KeyRound, Plus } from 'lucide';
import type { MeReply, Token } from '../../index.ts';
import { useList } from '../calls/list.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { isAdmin, refreshSession, session, useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { CreateKey } from './create-key.tsx';
import { CreatedKey } from './created-key.tsx';
import { EditKey } from './edit-key.tsx';
import { GrantQuota } from './grant-quota.tsx';
import { type KeyAction, KeyTable } from './key-table.tsx';
import './keys.css';
import { RevokeKey } from './revoke-key.tsx';

/** An open dialog and the key that it concerns. */
type Open = { name: KeyAction; token: Token } | { name: 'create' } | { name: 'created'; token: Token };

const pageSize = 200;

/** The keys of the signed-in key, or of all users for an admin key. */
export default function KeysPage() {
  const current = session.value;
  return (
    <>
      <PageHead title="Keys">
        A key creates further keys with at most its own rights. Give each program its own key and limit.
      </PageHead>
      {current && <Keys me={current.me} />}
    </>
  );
}

function Keys({ me }: { me: MeReply }) {
  const showsAll = useSignal(false);
  const name = useSignal('');
  const open = useSignal<Open | undefined>(undefined);
  const reloads = useSignal(0);
  const canCreate = me.scopes.includes('create_keys');
  const list = <KeyList showsAll={showsAll.value} name={name} reloads={reloads.value} open={open} />;
  const close = () => (open.value = undefined);
  const reload = () => {
    close();
    reloads.value += 1;
    // The list reports a failure. A revoked key is signed out.
    refreshSession().catch(() => undefined);
  };
  const current = open.value;
  return (
    <div class="stack">
      <div class="row-between">
        <p class="secondary">
          Your key <strong>{me.key.name}</strong>:{' '}
          {me.key.unlimited_quota ? 'unlimited quota' : <Quota amount={me.key.remain_quota} />}
          {!me.key.unlimited_quota && ' left'}, <Quota amount={me.key.used_quota} /> used
        </p>
        {canCreate && (
          <Button variant="primary" icon={Plus} onClick={() => (open.value = { name: 'create' })}>
            Create key
          </Button>
        )}
      </div>
      {isAdmin.value ? (
        <Tabs
          label="Owner"
          names={['My keys', 'All keys']}
          selected={showsAll.value ? 'All keys' : 'My keys'}
          onSelect={(tab) => (showsAll.value = tab === 'All keys')}
        >
          {list}
        </Tabs>
      ) : (
        list
      )}
      {current?.name === 'create' && (
        <CreateKey
          me={me}
          onClose={close}
          onCreated={(token) => {
            reload();
            open.value = { name: 'created', token };
          }}
        />
      )}
      {current?.name === 'created' && <CreatedKey token={current.token} onClose={close} />}
      {current?.name === 'edit' && (
        <EditKey token={current.token} models={me.models} onClose={close} onSaved={reload} />
      )}
      {current?.name === 'grant' && <GrantQuota token={current.token} onClose={close} onGranted={reload} />}
      {current?.name === 'revoke' && (
        <RevokeKey
          token={current.token}
          isOwn={current.token.id === me.key.id}
          onClose={close}
          onRevoked={reload}
        />
      )}
    </div>
  );
}

interface KeyListProps {
  showsAll: boolean;
  name: Signal<string>;
  reloads: number;
  open: Signal<Open | undefined>;
}

function KeyList({ showsAll, name, reloads, open }: KeyListProps) {
  const client = useClient();
  const list = useList<Token>(
    (p, signal) => {
      const query = { p, page_size: pageSize };
      return showsAll
        ? client.admin.tokens.list({ ...query, ...(name.value && { name: name.value }) }, { signal })
        : client.tokens.list(query, { signal });
    },
    `${showsAll} ${showsAll ? name.value : ''} ${reloads}`,
  );
  const items = list.items.value;
  const error = list.error.value;
  const rest = list.total.value - (items?.length ?? 0);
  return (
    <div class="stack keys-list">
      {showsAll && (
        <input
          class="input keys-search"
          type="search"
          aria-label="Search keys by name"
          placeholder="Search by name"
          value={name.value}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
      )}
      {error !== undefined && <ErrorNotice error={error} />}
      {items?.length === 0 && (
        <EmptyState icon={KeyRound} title={name.value ? 'No key has this name.' : 'There are no keys yet.'} />
      )}
      {items !== undefined && items.length > 0 && (
        <KeyTable
          tokens={items}
          isAdmin={isAdmin.value}
          onAction={(action, token) => (open.value = { name: action, token })}
        />
      )}
      {items !== undefined && rest > 0 && (
        <Button busy={list.isLoading.value} onClick={() => void list.more()}>
          Load more ({formatCount(rest)})
        </Button>
      )}
    </div>
  );
}
