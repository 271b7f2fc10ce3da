import { useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { Statements } from './statements.tsx';

/** The monthly statements of the user of the key. */
export default function StatementsPage() {
  const client = useClient();
  return (
    <>
      <PageHead title="Statements">
        Balances, grants, charges and refunds of a month, in quota units. Months are those of UTC.
      </PageHead>
      <Statements calls={client.me.statements} />
    </>
  );
}
