export { type ConformanceOptions, runConformance } from './conformance.ts';
export type {
  Check,
  CoverageCell,
  ErrorCell,
  EventCell,
  Report,
  ResponseCell,
} from './report/report.ts';
export type { CheckOutcome } from './scenarios/scenario.ts';
