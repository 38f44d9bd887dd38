import type { CompleteConfig } from '../config/complete.ts';
import type { CheckResult } from '../operations/doctor/check.ts';
import { examine } from '../operations/doctor/doctor.ts';
import { patientOf } from './doctor-patient.ts';

/** Less than `sluice doctor` waits: a person looks at a page. */
const CALL_MS = 10_000;

/** The checks of `sluice doctor` as the gateway itself makes them. Nothing is changed anywhere. */
export function examineGateway(
  config: CompleteConfig,
  embeddedUrl: string | undefined,
): Promise<readonly CheckResult[]> {
  const patient = patientOf(config, config, embeddedUrl);
  return examine(patient, { fix: false, timeoutMs: CALL_MS, clock: Date.now });
}
