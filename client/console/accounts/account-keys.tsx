import { useSignal } from '@preact/signals';
import { KeyRound } from 'lucide';
import type { Account, Token } from '../../index.ts';
import { useList } from '../calls/list.ts';
import { KeyTable } from '../keys/key-table.tsx';
import { descendantsOf } from '../keys/key-tree.ts';
import '../keys/keys.css';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { useClient } from '../session/session.ts';

interface AccountKeysProps {
  account: Account;
  onClose: () => void;
  /** Called after a key was revoked, while the dialog stays open. */
  onRevoked: () => void;
}

const pageSize = 200;

/** The keys of a sub-account, which its customer can revoke. */
export function AccountKeys({ account, onClose, onRevoked }: AccountKeysProps) {
  const client = useClient();
  const revoked = useSignal<Token | undefined>(undefined);
  const list = useList<Token>(
    (p, signal) => client.me.accounts.listTokens(account.id, { p, page_size: pageSize }, { signal }),
    account.id,
  );
  const items = list.items.value;
  const error = list.error.value;
  const rest = list.total.value - (items?.length ?? 0);
  const token = revoked.value;
  const others = token === undefined ? [] : descendantsOf(items ?? [], token.id);
  if (token !== undefined)
    return (
      <ConfirmDialog
        key="revoke"
        title={`Revoke ${token.name}?`}
        label="Revoke key"
        onClose={() => (revoked.value = undefined)}
        call={async (signal) => {
          await client.me.accounts.deleteToken(account.id, token.id, { signal });
          revoked.value = undefined;
          onRevoked();
          await list.start();
        }}
      >
        The key <code>{token.key}</code> of {account.name} stops working at once. This cannot be undone.
        {others.length > 0 &&
          ` Keys created with it are revoked as well: ${others.map(({ name }) => name).join(', ')}.`}
      </ConfirmDialog>
    );
  return (
    <Dialog key="list" title={`Keys of ${account.name}`} wide onClose={onClose}>
      {error !== undefined && <ErrorNotice error={error} />}
      {items?.length === 0 && <EmptyState icon={KeyRound} title="There are no keys yet." />}
      {items !== undefined && items.length > 0 && (
        <KeyTable tokens={items} onAction={(_, one) => (revoked.value = one)} />
      )}
      <div class="row">
        {rest > 0 && (
          <Button busy={list.isLoading.value} onClick={() => void list.more()}>
            Load more ({formatCount(rest)})
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
