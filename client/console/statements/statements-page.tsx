import type { MyStatements } from '../../index.ts';
import { AccountSelect, seesAccounts, selectedAccount } from '../accounts/account-select.tsx';
import { useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { type StatementCalls, Statements } from './statements.tsx';

/** The monthly statements of the user of the key. */
export default function StatementsPage() {
  const client = useClient();
  const account = seesAccounts.value ? selectedAccount.value : undefined;
  return (
    <>
      <PageHead title="Statements">
        Balances, grants, charges and refunds of a month, in quota units. Months are those of UTC.
      </PageHead>
      <div class="stack">
        <div class="row account-filter">
          <AccountSelect />
        </div>
        <Statements key={account} calls={callsOf(client.me.statements, account)} />
      </div>
    </>
  );
}

/** Returns the methods for the statements of the user, or of one of its sub-accounts. */
function callsOf(statements: MyStatements, accountId: number | undefined): StatementCalls {
  return {
    list: (options) => statements.list({ ...options, accountId }),
    retrieve: (month, options) => statements.retrieve(month, { ...options, accountId }),
    download: (month, format, options) => statements.download(month, format, { ...options, accountId }),
  };
}
