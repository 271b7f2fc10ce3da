import { useId } from 'preact/hooks';
import { useRun } from '../calls/run.ts';
import { ErrorNotice } from '../parts/notices.tsx';

interface ReportFileProps {
  /** Reads the text of the file. Throws if it is not a report. */
  onText: (text: string) => void;
}

/** Opens a report that a command has written. */
export function ReportFile({ onText }: ReportFileProps) {
  const id = useId();
  const reading = useRun<void>();
  const state = reading.state.value;
  return (
    <div class="field">
      <label class="field-label" for={id}>
        Report
      </label>
      <input
        id={id}
        class="input"
        type="file"
        accept="application/json,.json"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file !== undefined) void reading.start(async () => onText(await file.text()));
        }}
      />
      <p class="field-hint">The file stays in this tab.</p>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
    </div>
  );
}
