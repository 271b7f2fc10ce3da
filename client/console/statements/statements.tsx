import { Download, Printer, ReceiptText } from 'lucide';
import type { BinaryResponse, CallOptions, Statement, StatementFile, StatementMonth } from '../../index.ts';
import { useLoaded, useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Badge, EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { saveFile } from '../parts/save-file.ts';
import { replaceQuery, route } from '../shell/router.ts';
import { BalanceTable } from './balance-table.tsx';
import { Charges, Grants, Refunds } from './statement-lines.tsx';
import './statements.css';

/** Methods for the statements of one user. The methods of the client for the own user fit. */
export interface StatementCalls {
  list(options: CallOptions): Promise<StatementMonth[]>;
  retrieve(month: string, options: CallOptions): Promise<Statement>;
  download(month: string, format: StatementFile, options: CallOptions): Promise<BinaryResponse>;
}

/** The statements of a user. The address selects the month. */
export function Statements({ calls }: { calls: StatementCalls }) {
  const months = useLoaded((signal) => calls.list({ signal })).state.value;
  const wanted = route.value.query.get('month');
  const items = months.status === 'done' ? months.result : [];
  const month = items.find((item) => item.month === wanted) ?? items[0];
  return (
    <div class="statements stack">
      {months.status === 'failed' && <ErrorNotice error={months.error} />}
      {months.status === 'done' && items.length === 0 && (
        <EmptyState icon={ReceiptText} title="There is no statement yet.">
          <p>The first call or grant begins the first statement.</p>
        </EmptyState>
      )}
      {month && <Month calls={calls} month={month} months={items} />}
    </div>
  );
}

interface MonthProps {
  calls: StatementCalls;
  month: StatementMonth;
  months: readonly StatementMonth[];
}

function Month({ calls, month, months }: MonthProps) {
  const loaded = useLoaded((signal) => calls.retrieve(month.month, { signal }), month.month).state.value;
  const download = useRun<void>();
  const save = (signal: AbortSignal) =>
    calls
      .download(month.month, 'csv', { signal })
      .then(async (file) => saveFile(await file.bytes(), 'text/csv', `statement-${month.month}.csv`));
  const statement = loaded.status === 'done' ? loaded.result : undefined;
  return (
    <>
      <div class="row-between statement-actions">
        <div class="row">
          <select
            class="input statement-month"
            aria-label="Month"
            value={month.month}
            onChange={(event) =>
              replaceQuery({ ...Object.fromEntries(route.peek().query), month: event.currentTarget.value })
            }
          >
            {months.map((item) => (
              <option key={item.month} value={item.month}>
                {nameOf(item)}
              </option>
            ))}
          </select>
          {month.final ? <Badge tone="success">Closed</Badge> : <Badge tone="accent">In progress</Badge>}
        </div>
        <div class="row">
          <Button
            icon={Download}
            busy={download.state.value.status === 'running'}
            onClick={() => void download.start(save)}
          >
            Download CSV
          </Button>
          <Button icon={Printer} disabled={statement === undefined} onClick={() => print()}>
            Print
          </Button>
        </div>
      </div>
      {download.state.value.status === 'failed' && <ErrorNotice error={download.state.value.error} />}
      {loaded.status === 'failed' && <ErrorNotice error={loaded.error} />}
      {statement === undefined ? (
        loaded.status !== 'failed' && <div class="skeleton statement-skeleton" />
      ) : (
        <Content statement={statement} />
      )}
    </>
  );
}

function Content({ statement }: { statement: Statement }) {
  const { user, final, charges, grants, refunds } = statement;
  return (
    <article class="stack" aria-label={`Statement of ${nameOf(statement)}`}>
      <header class="print-only">
        <h2>
          Statement of {nameOf(statement)} for {user.name}
        </h2>
        <p>{final ? 'Closed. The amounts do not change.' : 'In progress. The amounts may change.'}</p>
      </header>
      <BalanceTable statement={statement} />
      <section class="stack">
        <h2>Charges by key and model</h2>
        {charges.items.length === 0 ? (
          <p class="secondary">No call or task ended in this month.</p>
        ) : (
          <Charges charges={charges} />
        )}
      </section>
      {grants.items.length > 0 && (
        <section class="stack">
          <h2>Grants</h2>
          <Grants grants={grants} />
        </section>
      )}
      {refunds.items.length > 0 && (
        <section class="stack">
          <h2>Refunds</h2>
          <Refunds refunds={refunds} />
        </section>
      )}
    </article>
  );
}

/** The name of a month in the reader's language. */
const nameOf = ({ since }: { since: number }): string =>
  new Date(since * 1_000).toLocaleDateString(undefined, { timeZone: 'UTC', month: 'long', year: 'numeric' });
