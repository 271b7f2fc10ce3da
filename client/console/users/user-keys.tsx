import { KeyRound } from 'lucide';
import { useList } from '../calls/list.ts';
import { KeyTable } from '../keys/key-table.tsx';
import '../keys/keys.css';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { useClient } from '../session/session.ts';

const pageSize = 200;

/** The keys of a user as a tree. The page Keys changes them. */
export function UserKeys({ id }: { id: number }) {
  const client = useClient();
  const list = useList((p, signal) =>
    client.admin.tokens.list({ p, page_size: pageSize, user_id: id }, { signal }),
  );
  const items = list.items.value;
  const error = list.error.value;
  const rest = list.total.value - (items?.length ?? 0);
  return (
    <div class="stack">
      {error !== undefined && <ErrorNotice error={error} />}
      {items?.length === 0 && <EmptyState icon={KeyRound} title="The user has no keys yet." />}
      {items !== undefined && items.length > 0 && <KeyTable tokens={items} />}
      {items !== undefined && rest > 0 && (
        <Button busy={list.isLoading.value} onClick={() => void list.more()}>
          Load more ({formatCount(rest)})
        </Button>
      )}
    </div>
  );
}
