package view

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
)

// amountPattern is a decimal number as databases and JSON write it.
var amountPattern = regexp.MustCompile(`^[+-]?[0-9]{1,20}(\.[0-9]{1,20})?$`)

// ParseMoney reads an amount without losing a cent: "1450.5" of "UYU" is
// 1.450,50. It takes what a numeric column or a number of JSON reads as text: a
// decimal point, no grouping, no exponent. An amount with more decimals than the
// currency has is refused, unless they are zeros.
func ParseMoney(amount, currency string) (Money, error) {
	if !amountPattern.MatchString(amount) {
		return Money{}, fmt.Errorf("view: money: %.40q is no decimal number", amount)
	}
	if err := (Money{Minor: 1, Currency: currency}).Validate(); err != nil {
		return Money{}, err
	}
	value, ok := new(big.Rat).SetString(amount)
	if !ok {
		return Money{}, fmt.Errorf("view: money: %.40q is no decimal number", amount)
	}
	for range decimals(currency) {
		value.Mul(value, big.NewRat(10, 1))
	}
	if !value.IsInt() {
		return Money{}, fmt.Errorf("view: money: %s has more decimals than %s", amount, currency)
	}
	if !value.Num().IsInt64() {
		return Money{}, errors.New("view: money: the amount is more than 2^53 minor units")
	}
	money := Money{Minor: value.Num().Int64(), Currency: currency}
	return money, money.Validate()
}
