import type { Signal } from '@preact/signals';
import { FileCheck } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { Code } from '../calls/call-panel.tsx';
import type { RunState } from '../calls/run.ts';
import { Badge, EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount, formatDuration, Time } from '../parts/numbers.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { type Counts, countOutcomes, type LiveRun, noCounts, type Progress } from './live-run.ts';
import { type Check, coverageOf, type OperationCoverage, type Report, readReport } from './report.ts';
import { RunForm } from './run-form.tsx';

interface ConformanceProps {
  /** Areas of the contract. */
  areas: readonly string[];
  live: LiveRun;
  report: Signal<Report | undefined>;
}

/** Tests a server against the contract and shows the results while they arrive, or those of a file. */
export function Conformance({ areas, live, report }: ConformanceProps) {
  const state = live.run.state.value;
  const openFile = (text: string) => {
    const opened = readReport(text);
    live.run.reset();
    live.progress.value = undefined;
    report.value = opened;
  };
  return (
    <div class="workbench contract-report">
      <RunForm areas={areas} live={live} onText={openFile} onReport={(done) => (report.value = done)} />
      <div class="stack">
        {state.status === 'failed' && <ErrorNotice error={state.error} />}
        <Outcome status={state.status} progress={live.progress.value} report={report.value} />
      </div>
    </div>
  );
}

interface OutcomeProps {
  status: RunState<Report>['status'];
  progress: Progress | undefined;
  report: Report | undefined;
}

/** The results of the current run, or else the last report. */
function Outcome({ status, progress, report }: OutcomeProps) {
  const isRunning = status === 'running';
  if (progress !== undefined && status !== 'done')
    return <LiveResults progress={progress} isRunning={isRunning} />;
  if (isRunning)
    return (
      <p class="card secondary" role="status">
        The run starts.
      </p>
    );
  if (report !== undefined) return <Results report={report} />;
  return (
    <EmptyState icon={FileCheck} title="No report yet">
      <p>Run the tests, or choose the report of a command.</p>
    </EmptyState>
  );
}

/** The results of a run that has no report yet, or that was stopped. */
function LiveResults({ progress, isRunning }: { progress: Progress; isRunning: boolean }) {
  const { baseUrl, operations, checks, waiting } = progress;
  const { total, byOperation } = countOutcomes(checks);
  const current = checks.at(-1)?.operation ?? operations[0] ?? '';
  const done = Math.max(0, operations.indexOf(current));
  return (
    <>
      <div class="card stack">
        <CountBadges counts={total}>
          {!isRunning && <Badge tone="warning">stopped before the end</Badge>}
        </CountBadges>
        {isRunning && (
          <progress class="progress" aria-label="Tested operations" max={operations.length} value={done} />
        )}
        <p class="secondary">
          {baseUrl}, operation {formatCount(Math.min(done + 1, operations.length))} of{' '}
          {formatCount(operations.length)}: <code>{current}</code>
          {isRunning && waiting !== undefined && <>, waiting for {waiting}</>}
        </p>
        <p class="visually-hidden" role="status">
          {`${formatCount(done)} of ${formatCount(operations.length)} operations are tested, ${formatCount(total.failed)} checks failed.`}
        </p>
      </div>
      <Failures checks={checks} />
      <OperationTable
        operations={operations.filter((id) => byOperation.has(id))}
        counts={byOperation}
        current={isRunning ? current : undefined}
      />
    </>
  );
}

/** The results of a complete run. */
function Results({ report }: { report: Report }) {
  const { baseUrl, contract, startedAt, seconds, checks } = report;
  const coverage = useMemo(() => coverageOf(report), [report]);
  const { total, byOperation } = useMemo(() => countOutcomes(checks), [checks]);
  return (
    <>
      <div class="card stack">
        <CountBadges counts={total} />
        <p class="secondary">
          {baseUrl}, contract {contract}, <Time at={Date.parse(startedAt)} />,{' '}
          {formatDuration(seconds * 1_000)}
        </p>
        <p class="visually-hidden" role="status">
          The run is complete.
        </p>
      </div>
      <Failures checks={checks} />
      <OperationTable operations={[...byOperation.keys()]} counts={byOperation} coverage={coverage} />
      <Skipped checks={checks} />
    </>
  );
}

function CountBadges({ counts, children }: { counts: Counts; children?: ComponentChildren }) {
  const { passed, failed, skipped } = counts;
  return (
    <div class="row">
      <Badge tone={failed === 0 ? 'neutral' : 'danger'}>{formatCount(failed)} failed</Badge>
      <Badge tone="success">{formatCount(passed)} passed</Badge>
      <Badge>{formatCount(skipped)} skipped</Badge>
      {children}
    </div>
  );
}

interface OperationTableProps {
  operations: readonly string[];
  counts: ReadonlyMap<string, Counts>;
  /** Undefined before the report. */
  coverage?: ReadonlyMap<string, OperationCoverage>;
  /** The operation that is being tested. */
  current?: string | undefined;
}

function OperationTable({ operations, counts, coverage, current }: OperationTableProps) {
  if (operations.length === 0) return null;
  return (
    <ScrollRegion label="Results by operation">
      <table class="table">
        <TableHead
          columns={[
            'Operation',
            { title: 'Failed', class: 'number' },
            { title: 'Passed', class: 'number' },
            { title: 'Skipped', class: 'number' },
            ...(coverage ? ['Responses'] : []),
          ]}
        />
        <tbody>
          {operations.map((id) => {
            const { failed, passed, skipped } = counts.get(id) ?? noCounts;
            const covered = coverage?.get(id);
            return (
              <tr key={id} aria-current={id === current ? 'step' : undefined}>
                <td class="contract-place mono">{id}</td>
                <td class="number">{failed > 0 ? <Badge tone="danger">{formatCount(failed)}</Badge> : 0}</td>
                <td class="number">{formatCount(passed)}</td>
                <td class="number">{formatCount(skipped)}</td>
                {coverage && (
                  <td>
                    {covered && covered.documented > 0 && `${covered.covered} of ${covered.documented}`}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function Failures({ checks }: { checks: readonly Check[] }) {
  return (
    <>
      {withOutcome(checks, 'failed').map((check) => (
        <CheckDetails key={`${check.operation} ${check.name}`} check={check} />
      ))}
    </>
  );
}

function Skipped({ checks }: { checks: readonly Check[] }) {
  const skipped = withOutcome(checks, 'skipped');
  if (skipped.length === 0) return null;
  return (
    <details class="card">
      <summary>{formatCount(skipped.length)} skipped checks, with reasons</summary>
      <ul class="contract-problems">
        {skipped.map(({ operation, name, problems }) => (
          <li key={`${operation} ${name}`}>
            <strong>{operation}</strong> {name}: {problems.join(' ')}
          </li>
        ))}
      </ul>
    </details>
  );
}

function CheckDetails({ check: { operation, name, outcome, problems, curl } }: { check: Check }) {
  return (
    <details class="card" open>
      <summary class="row">
        <Badge tone="danger">{outcome}</Badge>
        <strong>{operation}</strong> {name}
      </summary>
      <ul class="contract-problems">
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
      {curl && <Code text={curl} label={`Request of ${operation} ${name}`} />}
    </details>
  );
}

const withOutcome = (checks: readonly Check[], outcome: Check['outcome']) =>
  checks.filter((check) => check.outcome === outcome);
