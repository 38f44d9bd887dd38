import { testUnderNode } from './installed.ts';

testUnderNode('24.9.0');
