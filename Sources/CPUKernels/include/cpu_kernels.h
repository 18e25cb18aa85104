#pragma once

#include "ck_types.h"
