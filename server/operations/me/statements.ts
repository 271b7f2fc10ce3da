import type { OperationRequest, Reply, ResponseBody } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';
import type { Caller } from '../../keys/caller.ts';
import { accessDenied, notFound } from '../../lib/failure.ts';
import { type Month, monthOf, nextMonth, startOfMonth } from '../../store/months.ts';
import type { Statement, StatementMonths } from '../../store/queries/statements.ts';
import { success } from '../success.ts';
import { statementCsv } from './statement-csv.ts';
import { statementPage, statementPageHeaders } from './statement-page.ts';

type ListOperation = 'listMyStatements' | 'listUserStatements';
type GetOperation = 'getMyStatement' | 'getUserStatement';
type Request = OperationRequest<ListOperation> | OperationRequest<GetOperation>;

/** Time after the end of a month for its last calls to be recorded, before it is closed. */
const closingDelayMs = 3_600_000;

/** Refuses keys that do not see all keys of their user. @throws Failure 403 */
export function requireUserView({ hasLimits }: Caller): void {
  if (hasLimits === true)
    throw accessDenied(
      'Statements cover all keys of the user. This operation requires a key without limits.',
    );
}

/** Lists the months with statements of a user, newest first. */
export async function listStatements(
  request: OperationRequest<ListOperation>,
  userId: number,
): Promise<ResponseBody<ListOperation, 200>> {
  const now = request.gateway.clock();
  const { first } = await monthsOf(request, userId);
  const items = monthsFrom(first, monthOf(now)).map((month) => {
    const until = startOfMonth(nextMonth(month));
    return { month, since: startOfMonth(month), until, final: isOver(month, now) };
  });
  return success({ items: items.reverse() });
}

/** Sends the statement of a user in the format of the request. */
export async function sendStatement<Op extends GetOperation>(
  request: OperationRequest<GetOperation>,
  reply: Reply<Op> & Reply<GetOperation>,
  userId: number,
): Promise<void> {
  const { path, query, headers } = request;
  const statement = await readStatement(request, userId, path.month);
  const format = query.format ?? formatOf(headers.accept);
  if (format === 'csv')
    reply.bytes(200, 'text/csv', Buffer.from(statementCsv(statement)), {
      'content-disposition': `attachment; filename="statement-${statement.month}.csv"`,
    });
  else if (format === 'html')
    reply.bytes(200, 'text/html; charset=utf-8', Buffer.from(statementPage(statement)), statementPageHeaders);
  else reply.json(200, success(statement));
}

function formatOf(accept = ''): 'json' | 'csv' | 'html' {
  if (/\btext\/csv\b/i.test(accept)) return 'csv';
  return /\btext\/html\b/i.test(accept) ? 'html' : 'json';
}

/** Reads or calculates a statement, and closes all earlier months that are over. @throws Failure 404 */
async function readStatement(request: Request, userId: number, month: Month): Promise<Statement> {
  const { gateway } = request;
  const now = gateway.clock();
  const { first, closed } = await monthsOf(request, userId);
  const current = monthOf(now);
  if (month < first || month > current)
    throw notFound(
      'month',
      `there is no statement of ${month}; statements exist from ${first} to ${current}.`,
    );
  if (closed !== null && month <= closed) {
    const stored = await runReport(request, 'closedStatement', { userId, month });
    if (stored !== undefined) return stored;
  }
  // Each month starts with the stored balance of the month before, so they are closed in order.
  const open = closed === null || month <= closed ? first : nextMonth(closed);
  let result: Statement | undefined;
  for (const one of monthsFrom(open, month)) {
    const final = isOver(one, now);
    const statement = await runReport(request, 'calculateStatement', { userId, month: one, final });
    result = final ? await gateway.store.run('closeStatement', { userId, statement, now }) : statement;
  }
  if (result === undefined) throw new Error(`no month was calculated up to ${month}`);
  return result;
}

async function monthsOf(request: Request, userId: number): Promise<StatementMonths> {
  const months = await runReport(request, 'statementMonths', { userId });
  if (months === undefined) throw notFound('id', 'there is no such user or sub-account.');
  return months;
}

const isOver = (month: Month, now: number) => startOfMonth(nextMonth(month)) * 1_000 + closingDelayMs <= now;

/** Returns the months from one to another, both included. */
function monthsFrom(first: Month, last: Month): Month[] {
  const months: Month[] = [];
  for (let month = first; month <= last; month = nextMonth(month)) months.push(month);
  return months;
}
