import { useSignal } from '@preact/signals';
import type { AdminToken, Token } from '../../index.ts';
import { useLoaded, useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { isAdmin, useClient } from '../session/session.ts';
import { descendantsOf } from './key-tree.ts';

/** Names of other keys that the dialog lists. */
const maxNames = 8;
const pageSize = 1_000;

interface RevokeKeyProps {
  token: Token | AdminToken;
  /** Whether the console uses this key. */
  isOwn: boolean;
  onClose: () => void;
  onRevoked: () => void;
}

/** Asks for a confirmation, and lists the keys that are revoked as well. */
export function RevokeKey({ token, isOwn, onClose, onRevoked }: RevokeKeyProps) {
  const client = useClient();
  const keepsChildren = useSignal(false);
  const run = useRun<void>();
  const children = useLoaded(async (signal) => {
    const query = { page_size: pageSize };
    const keys: readonly Token[] =
      'user_id' in token
        ? await Array.fromAsync(client.admin.tokens.list({ ...query, user_id: token.user_id }, { signal }))
        : await Array.fromAsync(client.tokens.list(query, { signal }));
    return descendantsOf(keys, token.id);
  }, token.id).state.value;
  const others = children.status === 'done' ? children.result : [];
  const state = run.state.value;
  const revoke = async (signal: AbortSignal) => {
    if (isAdmin.value)
      await client.admin.tokens.revoke(token.id, { keep_children: keepsChildren.value }, { signal });
    else await client.tokens.delete(token.id, { signal });
    onRevoked();
  };
  return (
    <Dialog title={`Revoke ${token.name}?`} onClose={onClose}>
      <p>
        The key <code>{token.key}</code> stops working at once. This cannot be undone.
        {typeof token.created_by === 'number' && ' Its remaining quota returns to the key that created it.'}
      </p>
      {isOwn && <p class="notice notice-warning">You are signed in with this key, and will be signed out.</p>}
      {others.length > 0 && !keepsChildren.value && (
        <div class="notice notice-warning">
          <div>
            <p>
              {others.length === 1 ? 'One key' : `${formatCount(others.length)} keys`} created with it{' '}
              {others.length === 1 ? 'is' : 'are'} revoked as well:
            </p>
            <p>
              {others
                .slice(0, maxNames)
                .map(({ name }) => name)
                .join(', ')}
              {others.length > maxNames && ` and ${formatCount(others.length - maxNames)} more`}
            </p>
          </div>
        </div>
      )}
      {isAdmin.value && others.length > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={keepsChildren.value}
            onChange={(event) => (keepsChildren.value = event.currentTarget.checked)}
          />
          Keep the keys that were created with it
        </label>
      )}
      {children.status === 'failed' && <ErrorNotice error={children.error} />}
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      <div class="row">
        <Button
          variant="danger"
          disabled={children.status !== 'done'}
          busy={state.status === 'running'}
          onClick={() => void run.start(revoke)}
        >
          {others.length > 0 && !keepsChildren.value
            ? `Revoke ${formatCount(others.length + 1)} keys`
            : 'Revoke key'}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
